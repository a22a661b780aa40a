import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { findSecret, redactCredentials, redactPaths } from './redact.ts'

const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghij_KLMN-opq'
const BODY = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj/home/tmp+AgEAAoIBAQC7'
const PEM = `-----BEGIN RSA PRIVATE KEY-----\n${BODY}\n${BODY}==\n-----END RSA PRIVATE KEY-----`

function cases(table: Readonly<Record<string, string>>, change: (text: string) => string): void {
  for (const [text, expected] of Object.entries(table)) {
    it(`${text === expected ? 'leaves' : 'redacts'} ${JSON.stringify(text.slice(0, 60))}`, () => {
      assert.equal(change(text), expected)
      assert.equal(change(expected), expected)
    })
  }
}

describe('redactCredentials: tokens by prefix', () => {
  cases(
    {
      'use cp_abc12345 now': 'use <redacted> now',
      'sk-ABCdef_1-2': '<redacted>',
      '(ghp_12345678)': '(<redacted>)',
      ch1_abcdEFGH1234: '<redacted>',
      github_pat_11AA22BB_cc: '<redacted>',
      'xoxb-12345678 xoxp-12345678 xoxs-1234abcd': '<redacted> <redacted> <redacted>',
      ключcp_abc12345: 'ключ<redacted>',
      'https://x/?k=sk-12345678&n=1': 'https://x/?k=<redacted>&n=1',
      'cp_1234567 is too short': 'cp_1234567 is too short',
      'xoxz-12345678': 'xoxz-12345678',
      'scp_abc12345 and task-abcdefghij': 'scp_abc12345 and task-abcdefghij',
      CP_CONTEXT_PROVIDER: 'CP_CONTEXT_PROVIDER',
      'key AKIAIOSFODNN7EXAMPLE, session ASIAY34FZKBOKMUTVV7A.':
        'key <redacted>, session <redacted>.',
      [`AIza${'Sy3_x-'.repeat(5)}Sy3_x`]: '<redacted>',
      [`glpat-${'aB3-_'.repeat(4)}`]: '<redacted>',
      [`npm_${'aB3'.repeat(12)} npm_config_registry`]: '<redacted> npm_config_registry',
      [`hf_${'aB3'.repeat(11)}b, hf_hub_download`]: '<redacted>, hf_hub_download',
      [`sk_live_${'aB3'.repeat(8)}`]: '<redacted>',
      [`whsec_${'aB3/'.repeat(8)}=`]: '<redacted>',
      [`SG.${'a-3_'.repeat(5)}bc.${'aB3'.repeat(14)}b`]: '<redacted>',
      [`dop_v1_${'0a'.repeat(32)}`]: '<redacted>',
      [`hvs.${'aB3_'.repeat(6)}`]: '<redacted>',
      [`AGE-SECRET-KEY-1${'QZ'.repeat(29)}`]: '<redacted>',
      'AKIATOOSHORT and AKIAIOSFODNN7EXAMPLE1 and xAKIAIOSFODNN7EXAMPLE':
        'AKIATOOSHORT and AKIAIOSFODNN7EXAMPLE1 and xAKIAIOSFODNN7EXAMPLE',
      'call cp_get_context, then cp_claim_task': 'call cp_get_context, then cp_claim_task',
      cp_get_context_Xy12ab34: '<redacted>',
    },
    redactCredentials,
  )
})

describe('redactCredentials: JSON web tokens', () => {
  cases(
    {
      [`Bearer ${JWT}`]: 'Bearer <redacted>',
      [`a-${JWT}.b`]: 'a-<redacted>.b',
      'eyJhbGciOiJIUzI1NiJ9.short.abcdefghij': 'eyJhbGciOiJIUzI1NiJ9.short.abcdefghij',
      'eyJhbGciOiJIUzI1NiJ9.abcdefghij': 'eyJhbGciOiJIUzI1NiJ9.abcdefghij',
      'heyJude.abcdefghijk.abcdefghijk': 'heyJude.abcdefghijk.abcdefghijk',
    },
    redactCredentials,
  )
})

describe('redactCredentials: keys with values', () => {
  const keys = ['api_key', 'access_token', 'refresh_token', 'secret_key', 'password', 'passwd']
  for (const key of [
    ...keys,
    'authorization',
    'client_secret',
    'token',
    'secret',
    'API-Key',
    'ApiKey',
  ]) {
    it(`keeps the key ${key} and redacts its value`, () => {
      assert.equal(redactCredentials(`x ${key}=hunter22 y`), `x ${key}=<redacted> y`)
      assert.equal(redactCredentials(`x ${key} : hunter22, y`), `x ${key} : <redacted>, y`)
      assert.equal(
        redactCredentials(`${key.toUpperCase()}="hun ter"`),
        `${key.toUpperCase()}=<redacted>`,
      )
    })
  }
  cases(
    {
      '{"password": "a b c", "x": 1}': '{"password": <redacted>, "x": 1}',
      "password = 'it\\'s long' end": 'password = <redacted> end',
      'DB_PASSWORD=abcd;next': 'DB_PASSWORD=<redacted>;next',
      'secret := abcd': 'secret := <redacted>',
      '[{"password": "a b c"}]': '[{"password": <redacted>}]',
      "'token' => 'abcd'": "'token' => <redacted>",
      'Authorization: Bearer abc.def ghi': 'Authorization: <redacted> ghi',
      'password: "unclosed value': 'password: <redacted> value',
      'password:\nhunter22': 'password:\n<redacted>',
      'password: token: abcd1234': 'password: <redacted>',
      'token: expires soon': 'token: <redacted> soon',
      'password=abc': 'password=abc',
      'password: ""': 'password: ""',
      'secret:\n  name: db': 'secret:\n  name: db',
      'the password and the token are stored elsewhere':
        'the password and the token are stored elsewhere',
      'tokens: 12345 secrets: many mytoken=abcd': 'tokens: 12345 secrets: many mytoken=abcd',
      'fencing_token=123456': 'fencing_token=123456',
      'aws_secret_access_key = wJalrXUtnFEMI': 'aws_secret_access_key = <redacted>',
      'export API_KEY=$(cat .strata/admin.key) && run':
        'export API_KEY=$(cat .strata/admin.key) && run',
      'TOKEN="${CI_TOKEN}" SECRET=$OTHER;': 'TOKEN="${CI_TOKEN}" SECRET=$OTHER;',
      'curl -H "Authorization: Bearer $API_KEY" x': 'curl -H "Authorization: Bearer $API_KEY" x',
      'password: {{ vault.password }}': 'password: {{ vault.password }}',
      'PASSWORD=${PW:-hunter22}': 'PASSWORD=<redacted>',
      'PASSWORD=$ecret99': 'PASSWORD=<redacted>',
      'PASSWORD=$(cat f)tail9': 'PASSWORD=<redacted> f)tail9',
      'API_KEY=$(cat f) PASSWORD=hunter22': 'API_KEY=$(cat f) PASSWORD=<redacted>',
    },
    redactCredentials,
  )
})

describe('redactCredentials: private keys', () => {
  cases(
    {
      [`a ${PEM} b`]: 'a <redacted private key> b',
      [`secret: ${PEM}`]: 'secret: <redacted private key>',
      [`-----BEGIN PGP PRIVATE KEY BLOCK-----\nx y\n-----END PGP PRIVATE KEY BLOCK-----!`]:
        '<redacted private key>!',
      [`-----BEGIN PRIVATE KEY-----\n${BODY}\n${BODY}\nand then prose`]:
        '<redacted private key>\nand then prose',
      'scan for -----BEGIN PRIVATE KEY----- in files':
        'scan for -----BEGIN PRIVATE KEY----- in files',
      '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----':
        '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
    },
    redactCredentials,
  )
})

describe('redactCredentials: passwords in URLs', () => {
  for (const [text, expected] of [
    [
      'git clone https://me:hunter22@git.test/a.git',
      'git clone https://me:<redacted>@git.test/a.git',
    ],
    ['postgres://app:s3cr%21et@db/x?y=1', 'postgres://app:<redacted>@db/x?y=1'],
    ['https://:onlypass@host', 'https://:<redacted>@host'],
    ['postgres://user:password@localhost:5432/db', 'postgres://user:password@localhost:5432/db'],
    [
      'https://user:$TOKEN@host and https://u:${PW}@h',
      'https://user:$TOKEN@host and https://u:${PW}@h',
    ],
    [
      'http://localhost:8000/a@b and mail me@x.test',
      'http://localhost:8000/a@b and mail me@x.test',
    ],
  ] as const) {
    it(`gives ${expected}`, () => {
      assert.equal(redactCredentials(text), expected)
      assert.equal(redactCredentials(expected), expected)
      assert.equal(findSecret(text)?.kind, text === expected ? undefined : 'assignment')
    })
  }
})

describe('redactPaths', () => {
  cases(
    {
      'see /home/anna/x.ts, please': 'see <path> please',
      '"/Users/anna/My" and \'/root\'': '"<path>" and \'<path>\'',
      'in /tmp.': 'in <path>.',
      '(/var/log/a.log)': '(<path>',
      'file:///opt/x /private/y /mnt/z /Volumes/w': 'file://<path> <path> <path> <path>',
      '«/home/anna/файл» рядом': '«<path>» рядом',
      'C:\\Users\\anna\\x.ts and d:/work/y': '<path> and <path>',
      'в папке/home нет': 'в папке<path> нет',
      'https://example.com/home/page and http://x/tmp/y':
        'https://example.com/home/page and http://x/tmp/y',
      'src/var/x.ts ./tmp/y ~/home docs/root/z': 'src/var/x.ts ./tmp/y ~/home docs/root/z',
      '/homework /variable /tmp-dir /optimal /etc/hosts /api/v1':
        '/homework /variable /tmp-dir /optimal /etc/hosts /api/v1',
      'abc:/x and http://y': 'abc:/x and http://y',
    },
    redactPaths,
  )

  it('keeps the last of at least four segments in a transcript', () => {
    const options = { keepsLastSegment: true }
    assert.equal(redactPaths('at /home/anna/repo/src/a.ts:3', options), 'at <path>/a.ts:3')
    assert.equal(redactPaths('C:\\a\\b\\c\\d.ts', options), '<path>/d.ts')
    assert.equal(redactPaths('/home/anna/a.ts C:\\a\\b\\c.ts', options), '<path> <path>')
  })
})

describe('findSecret', () => {
  it('names kind and place of the first credential, never the value', () => {
    assert.deepEqual(findSecret('a sk-12345678'), { kind: 'token', index: 2 })
    assert.deepEqual(findSecret(`jwt ${JWT}`), { kind: 'jwt', index: 4 })
    assert.deepEqual(findSecret(PEM), { kind: 'private_key', index: 0 })
    assert.deepEqual(findSecret('password=hunter22 sk-12345678'), { kind: 'assignment', index: 9 })
    assert.deepEqual(findSecret('password: swordfish'), { kind: 'assignment', index: 10 })
  })

  it('finds full-width secrets and such that invisible characters split', () => {
    assert.equal(findSecret('\uff53\uff4b\uff0d12345678')?.kind, 'token')
    assert.equal(findSecret('sk-12\u200b34\u206056\u00ad78')?.kind, 'token')
    assert.equal(findSecret('pass\u200bword=hunter22')?.kind, 'assignment')
  })

  it('finds nothing in ordinary text', () => {
    const texts = [
      'token: expires in fifteen minutes',
      'password: required',
      'use cp_get_context first',
      'password: <redacted>, token="<redacted>"',
      'export CONTROL_PLANE_API_KEY=$(cat .strata/admin.key)',
      'the secret is that there is none',
      'Пароль хранится в сейфе',
    ]
    for (const text of texts) assert.equal(findSecret(text), undefined, text)
  })
})

describe('redaction', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      'cp_',
      'sk-',
      'xoxb-',
      'eyJ',
      '-----BEGIN PRIVATE KEY-----',
      '-----END PRIVATE KEY-----',
    ),
    fc.constantFrom(
      'password',
      'token',
      'authorization',
      '=',
      ':',
      ' ',
      '"',
      "'",
      '\n',
      ',',
      '.',
      '/home',
      '/',
      'C:\\',
    ),
    fc.stringMatching(/^[A-Za-z0-9_-]{0,20}$/),
    fc.string({ maxLength: 4 }),
  )
  const hostile = fc.array(piece, { maxLength: 16 }).map((pieces) => pieces.join(''))

  it('leaves no token, whatever stands around it', () => {
    fc.assert(
      fc.property(hostile, hostile, (before, after) => {
        const text = `${before} sk-Zq7Zq7Zq7Zq7 ${after}`
        assert.ok(!redactCredentials(redactPaths(text)).includes('Zq7Zq7Zq7Zq7'))
      }),
    )
  })

  it('leaves nothing that it would find again', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const redacted = redactCredentials(text)
        assert.ok(!['token', 'jwt', 'private_key'].includes(findSecret(redacted)?.kind ?? ''))
      }),
      { numRuns: 2000 },
    )
  })
})

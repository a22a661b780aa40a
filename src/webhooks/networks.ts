import { BlockList, isIP, isIPv6 } from 'node:net'

/**
 * Special-purpose blocks of IPv4 that are not the open internet. Source: IANA IPv4 Special-Purpose Address
 * Registry, and multicast (RFC 5771).
 */
const CLOSED_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
]

/** All of IPv6 that is open. Source: IANA IPv6 Address Space. */
const OPEN_V6 = '2000::/3'
/** What is not, within it: protocols, documentation, and what leads into IPv4 (Teredo, 6to4). */
const CLOSED_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']

const closedV4 = blockList(CLOSED_V4)
const openV6 = blockList([OPEN_V6])
const closedV6 = blockList(CLOSED_V6)

/** Networks such as `10.1.0.0/16` and `::1/128`; throws for anything else. */
export function blockList(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits = '', ...more] = network.split('/')
    const isWhole = more.length === 0 && /^\d{1,3}$/.test(bits) && isIP(address) !== 0
    if (!isWhole) throw new Error(`${network} is no network`)
    list.addSubnet(address, Number(bits), familyOf(address))
  }
  return list
}

/**
 * True for an address that anybody may be asked to call: the open internet, or what the operator allows.
 * An IPv4 address in the clothes of IPv6 counts as what it is.
 */
export function isCallable(address: string, allowed: BlockList): boolean {
  const plain = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address
  if (isIP(plain) === 0) return false
  if (allowed.check(plain, familyOf(plain))) return true
  if (!isIPv6(plain)) return !closedV4.check(plain, 'ipv4')
  return openV6.check(plain, 'ipv6') && !closedV6.check(plain, 'ipv6')
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4'
}

import { composeCompatible } from './invisible.ts'

/** A word ends and the next begins: a few characters that are neither letters nor digits. */
const GAP = String.raw`[^\p{L}\p{N}]{1,8}`
const START = String.raw`(?<![\p{L}\p{N}_])`
const END = String.raw`(?![\p{L}\p{N}_])`

interface Signal {
  name: string
  pattern: string
}

const OLDER =
  'previous|prior|above|earlier|preceding|foregoing|former|existing|original|initial|system'
const ORDERS =
  'instructions?|rules?|prompts?|directions?|guidelines?|directives?|commands?|orders?|constraints?|messages?'
const FILLER = `(?:(?:all|any|of|the|your|my|these|those|every|everything|each|other|and)${GAP}){0,4}`
const OLDER_RU =
  'все|всё|всех|предыдущ\\p{L}*|прежн\\p{L}*|прошл\\p{L}*|вышеуказанн\\p{L}*|выше|ранее|раньше|сво\\p{L}*|системн\\p{L}*|данн\\p{L}*|эт\\p{L}*|тво\\p{L}*|исходн\\p{L}*'
const ORDERS_RU =
  '(?:инструкци|указани|правил|команд|промпт|распоряжени|ограничени|сообщени|приказ)\\p{L}*'

/**
 * Patterns of text that gives orders to a model instead of stating something. Every repetition is
 * bounded, so a search costs a constant for each character.
 */
const SIGNALS: readonly Signal[] = [
  {
    name: 'ignore_instructions',
    pattern: `${START}(?:ignore|disregard|forget|override|bypass|skip)${GAP}${FILLER}(?:(?:${OLDER})${GAP}(?:\\p{L}{1,20}${GAP}){0,2}(?:${ORDERS})${END}|(?:everything|all)${GAP}(?:above|before|earlier)${END})`,
  },
  {
    name: 'ignore_instructions',
    pattern: `${START}(?:(?:ignore|disregard|forget)${GAP}(?:all${GAP})?(?:of${GAP})?your|do${GAP}not${GAP}follow${GAP}(?:the|your|any|previous)(?:${GAP}(?:${OLDER}))?)${GAP}(?:${ORDERS})${END}`,
  },
  {
    name: 'ignore_instructions',
    pattern: `${START}(?:про)?(?:игнорируй|забудь|отбрось|отмени)(?:те)?${GAP}(?:\\p{L}{1,20}${GAP}){0,2}?(?:${OLDER_RU})${GAP}(?:\\p{L}{1,20}${GAP}){0,2}?${ORDERS_RU}`,
  },
  {
    name: 'ignore_instructions',
    pattern: `${START}не${GAP}(?:следуй|выполняй|слушай|соблюдай|обращай${GAP}внимания${GAP}на)(?:те)?${GAP}(?:\\p{L}{1,20}${GAP}){0,3}?${ORDERS_RU}`,
  },
  {
    name: 'new_orders',
    pattern: `${START}(?:you${GAP}must${GAP}(?:now|always|immediately)|from${GAP}now${GAP}on${GAP}you|you${GAP}are${GAP}now${GAP}(?:a|an|the|in|my|free|acting|dan)|(?:your|my)${GAP}new${GAP}(?:task|role|goal|instructions?|orders?|identity)|(?:new|updated)${GAP}instructions?\\s?:|(?:act|behave)${GAP}as${GAP}(?:if${GAP}you|an?${GAP}(?:unrestricted|unfiltered|admin))|pretend${GAP}(?:to${GAP}be|that${GAP}you|you))`,
  },
  {
    name: 'new_orders',
    pattern: `${START}(?:(?:отныне|с${GAP}этого${GAP}момента|теперь)${GAP}(?:ты|вы|тебе|вам)${END}|(?:ты|вы)${GAP}(?:теперь|отныне|немедленно|сейчас${GAP}же)${END}|тво[яйи]${GAP}нов\\p{L}{1,3}${GAP}(?:задача|роль|цель|инструкция)|новые${GAP}инструкции\\s?:|притворись${END}|веди${GAP}себя${GAP}как${END})`,
  },
  {
    name: 'system_prompt',
    pattern: `${START}(?:system${GAP}(?:prompt|message|instructions?)|(?:reveal|print|show|repeat|output|leak|display)${GAP}(?:me${GAP})?(?:your|the${GAP}hidden)${GAP}(?:instructions?|prompt|rules)|системн\\p{L}{1,3}${GAP}(?:промпт|подсказк|запрос|сообщени|инструкци)\\p{L}*|(?:покажи|выведи|раскрой|повтори|напечатай)(?:те)?${GAP}(?:мне${GAP})?(?:сво\\p{L}{1,3}|тво\\p{L}{1,3})${GAP}(?:промпт|инструкци|правил)\\p{L}*)`,
  },
  {
    name: 'role_marker',
    pattern: `(?:^|\\n)[ \\t>*#_-]{0,8}(?:system|assistant|developer|human|система|ассистент)[*_]{0,2}\\s?:|<\\|[a-z_]{2,24}\\|>|\\[/?INST\\]|<</?SYS>>|</?(?:system|assistant|system[_-]reminder|instructions?)\\s?>`,
  },
  {
    name: 'tool_call',
    pattern: `</?(?:[a-z]{1,16}:)?(?:tool_(?:call|use|result)s?|function_(?:calls?|results?)|invoke|parameter)[\\s>/]|"(?:tool_calls?|tool_use|function_call)"\\s?:|"type"\\s?:\\s?"(?:tool_use|tool_result|function_call)"`,
  },
  {
    name: 'concealment',
    pattern: `${START}(?:(?:do${GAP}not|don.t|never)${GAP}(?:tell|inform|mention|notify|alert|reveal)${GAP}(?:\\p{L}{1,20}${GAP}){0,3}?(?:user|human|operator|reviewer|anyone|developer)s?${END}|without${GAP}(?:telling|informing|notifying)${GAP}(?:the${GAP})?(?:user|human|operator|anyone)|не${GAP}(?:говори|сообщай|рассказывай|упоминай)(?:те)?${GAP}(?:\\p{L}{1,20}${GAP}){0,3}?(?:пользовател|оператор|человек|никому|разработчик)\\p{L}*)`,
  },
]

/** A word that mixes Latin and Cyrillic letters: then look-alikes are read as either alphabet. */
const MIXED_WORD = /[a-z][а-яёіѕј]|[а-яёіѕј][a-z]/iu
const CYRILLIC_TWINS = 'аеорсухкмтніѕј'
const LATIN_TWINS = 'aeopcyxkmthisj'
/** Letters that no reader sees, as used to hide orders: tags and supplementary variation selectors. */
const HIDDEN_LETTERS = /(?:\p{VS}|[\u{e0020}-\u{e007e}]){8}/u

/**
 * Names of the instruction-like patterns in a text, each once: `ignore_instructions`, `new_orders`,
 * `system_prompt`, `role_marker`, `tool_call`, `concealment`; English and Russian. A hint, not a
 * verdict: the text may well quote such words. Expects text without invisible characters.
 */
export function findSuspicious(text: string): string[] {
  const found = new Set<string>()
  compiled ??= SIGNALS.map(({ name, pattern }) => ({ name, pattern: new RegExp(pattern, 'iu') }))
  for (const reading of readingsOf(text)) {
    for (const { name, pattern } of compiled) {
      if (!found.has(name) && pattern.test(reading)) found.add(name)
    }
  }
  return [...found]
}

/** Holds no state a caller can see: the patterns, made once. */
let compiled: { name: string; pattern: RegExp }[] | undefined

/** True when the text carries letters that no reader sees; the flags of some countries have six. */
export function holdsHiddenLetters(text: string): boolean {
  return HIDDEN_LETTERS.test(text)
}

function readingsOf(text: string): string[] {
  const plain = composeCompatible(text)
  if (!MIXED_WORD.test(plain)) return [plain]
  return [plain, swap(plain, CYRILLIC_TWINS, LATIN_TWINS), swap(plain, LATIN_TWINS, CYRILLIC_TWINS)]
}

function swap(text: string, from: string, to: string): string {
  return text.toLowerCase().replace(/[a-zа-яёіѕј]/g, (letter) => to[from.indexOf(letter)] ?? letter)
}

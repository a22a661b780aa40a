// Writes src/memory/lexicon/ru-en.txt.gz from WikDict dictionaries (CC BY-SA 3.0) as Debian packages them:
//   apt-get download dict-freedict-{deu,ell,fra,ita,nld,pol,swe}-rus dict-freedict-{ell,fin,pol}-eng ...
//   for each: dpkg -x <package>.deb folder
//   node docs/generate-lexicon.ts folder/usr/share/dictd
import { globSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { stemOf } from '../src/memory/analysis/stem.ts'
import { fold } from '../src/memory/analysis/terms.ts'
import { readDictionary } from './lexicon/read-dictionary.ts'
import { graphOf, walk } from './lexicon/walk.ts'
import type { Translations } from './lexicon/walk.ts'

const [folder = '.'] = process.argv.slice(2)
const MAX_TRANSLATIONS = 4
/** Of the chance of the best translation. */
const LEAST_SHARE = 0.25
const RUSSIAN = /^[а-я]+$/
const ENGLISH = /^[a-z]+$/

const paths = globSync('**/freedict-*.index', { cwd: folder })
  .map((path) => join(folder, path.replace(/\.index$/, '')))
  .toSorted()
const graph = graphOf(await Promise.all(paths.map(readDictionary)))
const lines = [
  ...linesOf(walk(graph, 'rus', 'eng'), { from: RUSSIAN, to: ENGLISH }),
  ...linesOf(walk(graph, 'eng', 'rus'), { from: ENGLISH, to: RUSSIAN }),
].toSorted()
writeFileSync(
  join(import.meta.dirname, '../src/memory/lexicon/ru-en.txt.gz'),
  gzipSync(`${lines.join('\n')}\n`, { level: 9 }),
)
process.stdout.write(`${lines.length} stems from ${paths.length} dictionaries\n`)

/** A line for each stem: the stem and those of its translations, likeliest first. */
function linesOf(words: Translations, script: { from: RegExp; to: RegExp }): string[] {
  const stems = new Map<string, Map<string, number>>()
  for (const [word, translations] of words) {
    const stem = stemOf(fold(word))
    if (!script.from.test(stem)) continue
    const known = stems.get(stem) ?? new Map<string, number>()
    stems.set(stem, known)
    for (const [translation, chance] of translations) {
      const other = stemOf(fold(translation))
      if (script.to.test(other)) known.set(other, (known.get(other) ?? 0) + chance)
    }
  }
  return Array.from(stems, ([stem, chances]) => {
    const best = [...chances].toSorted((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
    const least = LEAST_SHARE * (best[0]?.[1] ?? 0)
    const kept = best.slice(0, MAX_TRANSLATIONS).filter(([, chance]) => chance >= least)
    return kept.length === 0 ? '' : [stem, ...kept.map(([other]) => other)].join(' ')
  }).filter((line) => line !== '')
}

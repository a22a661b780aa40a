/** Forms that no stemmer brings together, each line led by the word that stands for all. */
const ENGLISH = `arise arose arisen|awake awoke awoken|bear bore born borne|beat beaten|become became|
begin began begun|bend bent|bind bound|bite bit bitten|bleed bled|blow blew blown|break broke broken|
breed bred|bring brought|build built|burn burnt|buy bought|catch caught|choose chose chosen|cling clung|
come came|creep crept|deal dealt|dig dug|draw drew drawn|dream dreamt|drink drank drunk|
drive drove driven|eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought|find found|flee fled|
fly flew flown|forbid forbade forbidden|forget forgot forgotten|forgive forgave forgiven|
freeze froze frozen|get got gotten|give gave given|go went gone|grind ground|grow grew grown|hang hung|
hear heard|hide hid hidden|hold held|keep kept|kneel knelt|know knew known|lay laid|lead led|lean leant|
leap leapt|learn learnt|leave left|lend lent|lie lain|light lit|lose lost|make made|mean meant|meet met|
mistake mistook mistaken|pay paid|prove proven|ride rode ridden|ring rang rung|rise rose risen|run ran|
say said|see saw seen|seek sought|sell sold|send sent|sew sewn|shake shook shaken|shine shone|shoot shot|
show shown|shrink shrank shrunk|sing sang sung|sink sank sunk|sit sat|sleep slept|slide slid|
speak spoke spoken|spend spent|spin spun|stand stood|steal stole stolen|stick stuck|sting stung|
strike struck|strive strove striven|swear swore sworn|sweep swept|swim swam swum|swing swung|
take took taken|teach taught|tear tore torn|tell told|think thought|throw threw thrown|
understand understood|wake woke woken|wear wore worn|weave wove woven|weep wept|win won|
withdraw withdrew withdrawn|write wrote written|child children|man men|woman women|person people|
foot feet|tooth teeth|goose geese|mouse mice|life lives|wife wives|knife knives|leaf leaves|half halves|
shelf shelves|loaf loaves|thief thieves|wolf wolves|index indices|vertex vertices|matrix matrices|
criterion criteria|datum data|good better best|bad worse worst|1 one|2 two|3 three|4 four|5 five|6 six|
7 seven|8 eight|9 nine|10 ten`

const RUSSIAN = `человек люди людей людям людьми людях|ребенок дети детей детям детьми детях|
год лет|идти шел шла шло шли|пойти пошел пошла пошло пошли|прийти пришел пришла пришло пришли|
уйти ушел ушла ушло ушли|выйти вышел вышла вышло вышли|найти нашел нашла нашло нашли|
войти вошел вошла вошло вошли|перейти перешел перешла перешло перешли|
произойти произошел произошла произошло произошли|дойти дошел дошла дошло дошли|
ехать еду едет едут|хороший лучше лучший лучшая лучшее лучшие|плохой хуже худший худшая худшее худшие|
большой больший большая большее большие|1 один|2 два две|3 три|4 четыре|5 пять|6 шесть|7 семь|
8 восемь|9 девять|10 десять`

/** Form -> the word that stands for it, of both languages: they share no word but the numbers. */
export function irregularForms(): ReadonlyMap<string, string> {
  const lines = `${ENGLISH}|${RUSSIAN}`.replaceAll('\n', '').split('|')
  return new Map(
    lines.flatMap((line) => {
      const [word = '', ...forms] = line.split(' ')
      return forms.map((form) => [form, word] as const)
    }),
  )
}

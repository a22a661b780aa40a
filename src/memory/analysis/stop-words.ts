/** Words that say nothing about what an item is about, question words included; `е` stands for `ё`. */
const ENGLISH = `a about above after again against all also am an and any are as at be because been
before being below between both but by can cannot could did do does doing down during each few for
from further had has have having he her here hers herself him himself his how i if in into is it its
itself just let may me might more most must my myself no nor not now of off on once only or other our
ours ourselves out over own same shall she should so some such than that the their theirs them
themselves then there these they this those through to too under until up very was we were what when
where whether which while who whom whose why will with would you your yours yourself yourselves
don doesn didn isn wasn aren weren hasn haven hadn couldn wouldn shouldn won ain ll ve re st nd rd th`

const RUSSIAN = `а без более больше будет будто буду будут бы был была были было быть в вам вами вас
вдруг ведь весь во вот все всего всегда всей всем всех всею всю вся вы где да даже для до другая
другие другой его ее ей ему если есть еще же за зачем здесь и из или им ими иногда их к каждый как
какая какие каким каких каков какова каково какого какое какой каком какому какую ко когда который
которая которое которого которой котором которому которую которые которых которым которыми кем кого
ком кому кто куда ли либо лишь между меня мне мной мог могла могли могут может можно мои мой моя
мою мы на над надо нам нами нас наш наша наше наши не него нее ней некоторый нельзя нем нему нет неё
ни нибудь никогда ним ними них ничего но ну о об оба один одна одно однако он она они оно опять от
откуда очень перед по под поскольку после потом потому почему почти при про раз разве с сам сама
сами само свое своего своей свои свой своих свою своя сделал себе себя сейчас сколько со собой совсем
так такая также такие такое такой там тебе тебя тем теми теперь то тобой тогда того тоже той только
том тому тот тою три ту тут ты у уж уже хоть хотя чего чей чем через чему что чтоб чтобы чуть чья эта
эти этим этими этих это этого этой этом этому этот эту`

/** Both languages in one set: a text mixes them freely and the words do not collide. */
export function stopWords(): ReadonlySet<string> {
  return new Set(`${ENGLISH} ${RUSSIAN}`.replaceAll('ё', 'е').split(/\s+/))
}

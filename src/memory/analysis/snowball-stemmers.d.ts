declare module 'snowball-stemmers' {
  export interface Stemmer {
    stem: (word: string) => string
  }
  const snowball: { newStemmer: (language: 'english' | 'russian') => Stemmer }
  // The package is CommonJS; its one export is the default.
  export default snowball
}

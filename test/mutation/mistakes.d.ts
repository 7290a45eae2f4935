/** Mistakes that people make: a sentence, the file, the text to find in it, and the text to put in its place. */
export const mistakes: Array<{ name: string, path: string, find: string, put: string }>

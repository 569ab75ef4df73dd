export const isOverflow = (text: string): boolean => /too long|context/.test(text)

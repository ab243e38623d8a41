const maxLength = 63;

/** Letters of Latin scripts that Unicode does not take apart into a plain letter and a mark. */
const foldedLetters: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  ħ: 'h',
  ı: 'i',
  ŋ: 'n',
};

/** `Café  Zürich!` becomes `cafe-zurich`; a name without a Latin letter or a digit becomes `deployment`. */
export function slugFromName(name: string): string {
  const folded = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[ßæœøđðþłħıŋ]/g, (letter) => foldedLetters[letter] as string);
  const slug = trimDashes(folded.replace(/[^a-z0-9]+/g, '-'));
  return trimDashes(slug.slice(0, maxLength)) || 'deployment';
}

/** The n-th slug of one name: `desk`, `desk-2`, `desk-3`, always short enough. */
export function numberedSlug(slug: string, number: number): string {
  if (number === 1) return slug;
  const suffix = `-${number}`;
  return trimDashes(slug.slice(0, maxLength - suffix.length)) + suffix;
}

const trimDashes = (text: string) => text.replace(/^-+|-+$/g, '');

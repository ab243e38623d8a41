/** All that a page says of voice before somebody wants to talk; the rest comes with the code of a call. */
const labels: Readonly<Record<string, string>> = {
  en: 'Talk',
  de: 'Sprechen',
  es: 'Hablar',
  fr: 'Parler',
  pt: 'Falar',
  hi: 'बात करें',
  ja: '話す',
  ar: 'تحدّث',
};

export const talkLabel = (): string => labels[document.documentElement.lang] ?? (labels.en as string);

type ElementWords = { chat: string; open: string; close: string };

const tables: Readonly<Record<string, ElementWords>> = {
  en: { chat: 'Chat', open: 'Open chat', close: 'Close chat' },
  de: { chat: 'Chat', open: 'Chat öffnen', close: 'Chat schließen' },
  es: { chat: 'Chat', open: 'Abrir el chat', close: 'Cerrar el chat' },
  fr: { chat: 'Chat', open: 'Ouvrir le chat', close: 'Fermer le chat' },
  pt: { chat: 'Chat', open: 'Abrir o chat', close: 'Fechar o chat' },
  hi: { chat: 'चैट', open: 'चैट खोलें', close: 'चैट बंद करें' },
  ja: { chat: 'チャット', open: 'チャットを開く', close: 'チャットを閉じる' },
  ar: { chat: 'محادثة', open: 'افتح المحادثة', close: 'أغلق المحادثة' },
};

/** In the first of these languages that there is. */
export function elementWords(languages: readonly string[]): ElementWords {
  const tags = languages.map((each) => each.toLowerCase().split('-', 1)[0] ?? '');
  const tag = tags.find((each) => Object.hasOwn(tables, each)) ?? 'en';
  return tables[tag] as ElementWords;
}

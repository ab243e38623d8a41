import { describe, expect, it } from 'vitest';
import { snippetOf } from './search.ts';
import { detectLanguage, indexedText, indexedTitle, readSearchQuery } from './search-words.ts';

describe('the language of a text', () => {
  it.each([
    ['english', 'You can return the parcel within 14 days if it is not what you ordered.'],
    ['english', 'Opening hours: Monday to Friday'],
    ['english', '# Install\n\n```\nnpm i x y z q w e r t y u\n```\n\nRun it in the folder of the project.'],
    ['german', 'Sie können das Paket innerhalb von 14 Tagen zurückgeben, wenn es nicht passt.'],
    ['french', 'Vous pouvez retourner le colis dans les 14 jours si ce n’est pas ce que vous avez commandé.'],
    ['spanish', 'Puede devolver el paquete en un plazo de 14 días si no es lo que usted pidió.'],
    ['portuguese', 'Você pode devolver o pacote em até 14 dias se não for o que você pediu, mas não depois.'],
    ['italian', 'Il pacco può essere restituito entro 14 giorni se non è quello che è stato ordinato.'],
    ['dutch', 'U kunt het pakket binnen 14 dagen terugsturen als het niet is wat u heeft besteld.'],
    ['swedish', 'Du kan returnera paketet inom 14 dagar om det inte är vad du beställde.'],
    ['norwegian', 'Du kan sende pakken tilbake innen 14 dager hvis det ikke er hva du bestilte, og etter det ikke.'],
    ['danish', 'Du kan sende pakken tilbage inden 14 dage, hvis det ikke er, hvad du bestilte af os.'],
    ['finnish', 'Voit palauttaa paketin 14 päivän kuluessa, jos se ei ole se mitä tilasit.'],
    ['hungarian', 'A csomagot 14 napon belül vissza lehet küldeni, ha nem az, amit rendelt, és ez nem változik.'],
    ['romanian', 'Puteți returna coletul în termen de 14 zile dacă nu este ceea ce ați comandat de la noi.'],
    ['turkish', 'Bu paket sipariş ettiğiniz gibi değilse 14 gün içinde iade etmek için bir form var.'],
    ['russian', 'Вы можете вернуть посылку в течение 14 дней, если это не то, что вы заказали.'],
    ['greek', 'Μπορείτε να επιστρέψετε το δέμα εντός 14 ημερών αν δεν είναι αυτό που παραγγείλατε.'],
    ['arabic', 'يمكنك إعادة الطرد في غضون 14 يوما إذا لم يكن هذا ما طلبته من المتجر.'],
    ['hindi', 'यदि यह वह नहीं है जो आपने मंगाया था तो आप 14 दिनों के भीतर पार्सल वापस कर सकते हैं।'],
    ['simple', 'Paczkę można zwrócić w ciągu 14 dni, jeśli nie jest to, co zostało zamówione.'],
    ['simple', 'Balík můžete vrátit do 14 dnů, pokud to není to, co jste si objednali.'],
    ['simple', 'Посилку можна повернути протягом 14 днів, якщо це не те, що ви замовили.'],
    ['simple', 'ご注文の品と異なる場合は、14日以内に返品できます。'],
    ['simple', '4711 0815 — 12:30'],
    ['simple', ''],
  ])('is %s for “%s”', (language, text) => {
    expect(detectLanguage(text)).toBe(language);
  });

  it('is detected in linear time for any text', () => {
    for (const text of ['<', '`', '](', 'https:', 'the ', '```\n', '\n']) {
      const startedAt = performance.now();
      detectLanguage(text.repeat(524_288 / text.length));
      expect(performance.now() - startedAt).toBeLessThan(1000);
    }
  });
});

describe('indexed text', () => {
  it('is in lower case, with paths, underscores and symbols split', () => {
    expect(indexedText('“ÄRGER” and/or Price_List — 5 ﬁles')).toBe(' ärger  and or price list   5 files');
  });

  it('is pairs of characters in scripts without spaces', () => {
    expect(indexedText('返品手続').trim()).toBe('返品 品手 手続');
    expect(indexedText('a返b').trim()).toBe('a 返 b');
  });

  it('has the words of a file name', () => {
    expect(indexedTitle('refund-policy.v2_final.md')).toBe('refund policy v2 final md');
  });
});

describe('a query', () => {
  it('has words, phrases and exclusions', () => {
    expect(readSearchQuery('Red "big house" or e-mail -blue -"old car" - x')).toEqual({
      whole: 'red "big house" or e-mail -blue -"old car" - x',
      words: ['red', 'big', 'house', 'e', 'mail', 'x'],
      excluded: '-blue -"old car"',
    });
  });

  it('has each word once, and at most 32', () => {
    expect(readSearchQuery('a b a B').words).toEqual(['a', 'b']);
    const many = Array.from({ length: 50 }, (_, at) => `w${at}`).join(' ');
    expect(readSearchQuery(many).words).toHaveLength(32);
  });
});

describe('a snippet', () => {
  const filler = 'Nothing is said here. '.repeat(40);

  it('is the whole passage if it is short', () => {
    expect(snippetOf('  A short\n\npassage. ', ['x'])).toBe('A short passage.');
  });

  it('shows the part with the most different words', () => {
    const text = `refund ${filler} refund for a broken lamp ${filler}`;
    expect(snippetOf(text, ['refund', 'broken', 'lamps'])).toMatch(/^… .*refund for a broken lamp.* …$/);
    expect(snippetOf(`${filler}the refunds`, ['refund'])).toMatch(/the refunds$/);
  });

  it('starts at the beginning if no word matches', () => {
    expect(snippetOf(filler, ['zebra'])).toMatch(/^Nothing is .* …$/);
  });

  it('never splits a character', () => {
    for (const lead of ['', 'x', 'xx']) {
      const snippet = snippetOf(`${lead}${'🙂'.repeat(400)}`, []);
      expect(snippet.isWellFormed()).toBe(true);
      expect(snippet.length).toBeLessThan(340);
    }
  });
});

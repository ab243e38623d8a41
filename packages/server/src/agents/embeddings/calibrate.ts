import type { Embeddings } from './embeddings.ts';

/** Questions and statements that have nothing to do with each other, in the shapes that queries and facts come in. */
const questions = [
  'How long does it take to boil an egg?',
  'What is the fastest way to the airport?',
  'Who wrote the song that was played at the wedding?',
  'Is there a pharmacy near the station?',
  'Why do leaves change their colour in autumn?',
  'chess openings',
  'Do I need a visa for this country?',
  'nuclear fusion',
  'Can you explain how the printer is connected?',
  'What did the committee vote on?',
];
const statements = [
  'She bought a used bicycle from a friend.',
  'Prefers to be called in the evening.',
  'The elevator is out of order until Friday.',
  'Sales grew by four percent in the second quarter.',
  'Is allergic to shellfish.',
  'The contract with the cleaning company ends in June.',
  'He has played tennis since he was a child.',
  'Lives with two dogs near the river.',
  'Wants invoices by post only.',
  'The new warehouse opens in spring.',
];

/**
 * From what similarity on two texts have to do with each other, for a model that nobody has measured: above it lies one in
 * twenty of pairs that have not. For the offline model it comes out close to what was measured there.
 */
export async function calibrate(embed: Embeddings['embed']): Promise<number> {
  const [asked, told] = await Promise.all([embed(questions), embed(statements, { urgency: 'index' })]);
  const unrelated = asked
    .flatMap((query) => told.map((text) => text.reduce((sum, value, at) => sum + value * (query[at] as number), 0)))
    .sort((a, b) => a - b);
  return unrelated[Math.floor(unrelated.length * 0.95)] as number;
}

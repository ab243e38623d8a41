import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atFirst, type Deed, type Happening, take } from './turn-taking.ts';

function play(happenings: readonly Happening[]) {
  let taking = atFirst;
  const deeds: Deed[] = [];
  for (const each of happenings) {
    const step = take(taking, each);
    taking = step.taking;
    deeds.push(...step.deeds);
  }
  return { phase: taking.phase, deeds };
}

const asked: Happening[] = ['began', 'fell_silent', 'words', 'reply_begins'];

describe('whose turn it is [VOI-260]', () => {
  it.each<[string, Happening[], string, Deed[]]>([
    ['a question is read and sent', ['began', 'fell_silent', 'words'], 'thinking', ['read', 'drop_unsaid', 'send']],
    ['its answer is said', [...asked, 'sentence'], 'speaking', ['read', 'drop_unsaid', 'send', 'say']],
    ['said before it is whole', [...asked, 'sentence', 'all_said'], 'thinking', ['read', 'drop_unsaid', 'send', 'say']],
    [
      'and then listened',
      [...asked, 'sentence', 'reply_is_over', 'all_said'],
      'listening',
      ['read', 'drop_unsaid', 'send', 'say'],
    ],
    ['an empty answer', [...asked, 'reply_is_over'], 'listening', ['read', 'drop_unsaid', 'send']],
    ['a noise is nothing', ['began', 'fell_silent', 'no_words'], 'listening', ['read', 'go_on']],
    [
      'a noise while it thinks',
      [...asked, 'began', 'fell_silent', 'no_words'],
      'thinking',
      ['read', 'drop_unsaid', 'send', 'read', 'go_on'],
    ],
    [
      'a cough does not cost the answer',
      ['sentence', 'began', 'fell_silent', 'no_words'],
      'speaking',
      ['say', 'read', 'go_on'],
    ],
    ['words do', ['sentence', 'began', 'fell_silent', 'words'], 'thinking', ['say', 'read', 'drop_unsaid', 'send']],
    ['nobody talks over a person', ['began', 'sentence'], 'hearing', ['keep']],
    [
      'what waited is said after a noise',
      ['began', 'sentence', 'fell_silent', 'no_words'],
      'speaking',
      ['keep', 'read', 'go_on'],
    ],
    ['who goes on is read anew', ['began', 'fell_silent', 'began', 'words'], 'hearing', ['read']],
    ['after its end nothing is done', ['ends', 'began', 'sentence', 'words'], 'ended', ['drop_unsaid']],
  ])('%s', (_, happenings, phase, deeds) => {
    expect(play(happenings)).toEqual({ phase, deeds });
  });

  it('never says anything while the person speaks, and sends only what was read', () => {
    const all: Happening[] = [
      ...([
        'began',
        'fell_silent',
        'words',
        'no_words',
        'reply_begins',
        'reply_is_over',
        'sentence',
        'all_said',
        'ends',
      ] as const),
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...all), { maxLength: 60 }), (happenings) => {
        let taking = atFirst;
        let unread = 0;
        for (const each of happenings) {
          const { taking: next, deeds } = take(taking, each);
          if (taking.phase === 'hearing')
            expect(deeds.filter((deed) => deed === 'say' || deed === 'go_on')).toEqual([]);
          if (deeds.includes('read')) unread = 1;
          if (deeds.includes('send')) expect(unread--).toBe(1);
          if (taking.phase === 'ended') expect([deeds, next]).toEqual([[], taking]);
          taking = next;
        }
      }),
    );
  });
});

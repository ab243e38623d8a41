import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CallAction, type CallEvent, initialTurn, nextTurn, soundsUnfinished } from './turn-taking.ts';

function play(happenings: readonly CallEvent[]) {
  let state = initialTurn;
  const actions: CallAction[] = [];
  for (const each of happenings) {
    const step = nextTurn(state, each);
    state = step.state;
    actions.push(...step.actions);
  }
  return { phase: state.phase, actions };
}

const asked: CallEvent[] = ['began', 'fell_silent', 'words', 'reply_begins'];

describe('turn-taking [VOI-260]', () => {
  it.each<[string, CallEvent[], string, CallAction[]]>([
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
    ['a noise is nothing', ['began', 'fell_silent', 'no_words'], 'listening', ['read', 'resume']],
    [
      'a noise while it thinks',
      [...asked, 'began', 'fell_silent', 'no_words'],
      'thinking',
      ['read', 'drop_unsaid', 'send', 'read', 'resume'],
    ],
    [
      'a cough does not cost the answer',
      ['sentence', 'began', 'fell_silent', 'no_words'],
      'speaking',
      ['say', 'read', 'resume'],
    ],
    ['words do', ['sentence', 'began', 'fell_silent', 'words'], 'thinking', ['say', 'read', 'drop_unsaid', 'send']],
    ['nobody talks over a person', ['began', 'sentence'], 'hearing', ['keep']],
    [
      'what waited is said after a noise',
      ['began', 'sentence', 'fell_silent', 'no_words'],
      'speaking',
      ['keep', 'read', 'resume'],
    ],
    ['who goes on is read anew', ['began', 'fell_silent', 'began', 'words'], 'hearing', ['read']],
    ['after its end nothing is done', ['ends', 'began', 'sentence', 'words'], 'ended', ['drop_unsaid']],
  ])('%s', (_, happenings, phase, actions) => {
    expect(play(happenings)).toEqual({ phase, actions });
  });

  it('never speaks while the user speaks, and sends only transcribed text', () => {
    const all: CallEvent[] = [
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
        let state = initialTurn;
        let unread = 0;
        for (const each of happenings) {
          const { state: next, actions } = nextTurn(state, each);
          if (state.phase === 'hearing')
            expect(actions.filter((deed) => deed === 'say' || deed === 'resume')).toEqual([]);
          if (actions.includes('read')) unread = 1;
          if (actions.includes('send')) expect(unread--).toBe(1);
          if (state.phase === 'ended') expect([actions, next]).toEqual([[], state]);
          state = next;
        }
      }),
    );
  });
});

describe('the words before a pause [VOI-622]', () => {
  // Transcripts of Moonshine, of sentences that a speaker broke off for 0.6 seconds.
  it.each([
    'I would like to.',
    "I won't like to.",
    'My order number is.',
    'I want to return a shoes because.',
    'Can you tell me?',
    'Can you tell me',
    'When does?',
    'Please send it to',
    'I need the invoice for.',
    'If my parcel comes on Tuesday.',
    'Well, I think, um,',
    'Well.',
    'I would like',
    'And then',
    'I’d like.',
    'Is it the',
  ])('%j sound unfinished', (text) => {
    expect(soundsUnfinished(text)).toBe(true);
  });

  it.each([
    '',
    'Yes.',
    'Yes, it is.',
    'I do.',
    'No, I did not.',
    'Stop!',
    'Please do.',
    'Where is it?',
    'Who is it for?',
    'And what is it about?',
    'I would like to change my order.',
    'If my parcel comes on Tuesday, I will not be at home.',
    'If not, when?',
    'Four seven one one.',
    'Thanks.',
    '元気ですか。',
  ])('%j sound finished', (text) => {
    expect(soundsUnfinished(text)).toBe(false);
  });
});

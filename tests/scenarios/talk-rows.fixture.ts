import { called, says, type Turn } from './talks.fixture.ts';

const fn = (name: string, more: Record<string, unknown> = {}) => ({
  name,
  description: `${name}.`,
  input_schema: { type: 'object', properties: { id: { type: 'string' } } },
  read_only: true,
  ...more,
});
export const order = { tools: [fn('get_order')] };
export const refund = { tools: [fn('refund', { read_only: false })] };
export const ask = (question: string, more: Record<string, unknown> = {}) =>
  called('ask_question', { question, ...more });
export const work = { hand_off: 'always' };
const broken = { fail: 400, failMessage: 'no such thing' };

export type TalkRow = [
  what: string,
  turns: readonly Turn[],
  needed: readonly (string | RegExp)[],
  /** Text that must not be there. */
  not?: readonly (string | RegExp)[],
];

export const lookups: readonly TalkRow[] = [
  [
    'what a function said',
    [
      {
        says: 'Where is A1?',
        with: order,
        model: [called('get_order', { id: 'A1' }), says('Shipped.')],
        functions: [{ tracking: 'TRK-777' }],
      },
      { says: 'Its tracking number?', model: [says('TRK-777')] },
    ],
    ['TRK-777', 'get_order {"id":"A1"}'],
  ],
  [
    'what a function said two turns ago',
    [
      {
        says: 'Where is A1?',
        with: order,
        model: [called('get_order', { id: 'A1' }), says('Shipped.')],
        functions: [{ tracking: 'TRK-778' }],
      },
      { says: 'Thanks', model: [says('Sure.')] },
      { says: 'Its tracking number?', model: [says('TRK-778')] },
    ],
    ['TRK-778', 'Thanks', 'Sure.'],
  ],
  [
    'what two calls at once said, each with its own',
    [
      {
        says: 'Both?',
        with: order,
        model: [
          {
            calls: [
              { name: 'get_order', arguments: { id: 'A1' } },
              { name: 'get_order', arguments: { id: 'B2' } },
            ],
          },
          says('Found.'),
        ],
        functions: [{ at: 'Oslo' }, { at: 'Lima' }],
      },
      { says: 'Where is the second?', model: [says('Lima')] },
    ],
    ['Oslo', 'Lima', '{"id":"B2"}'],
  ],
  [
    'that a call failed',
    [
      { says: 'Where is A1?', with: order, model: [called('no_such_tool'), says('I could not look.')] },
      { says: 'Why?', model: [says('There is no such tool.')] },
    ],
    ['no_such_tool', 'I could not look.'],
  ],
  [
    'what came of a call that was approved, and that it was',
    [
      {
        says: 'Refund A1',
        with: refund,
        model: [called('refund', { id: 'A1' }), says('Done.')],
        answers: [true],
        functions: [{ number: 'RF-991' }],
      },
      { says: 'The refund number?', model: [says('RF-991')] },
    ],
    ['RF-991', 'said yes to this call'],
  ],
  [
    'that the person said no',
    [
      {
        says: 'Refund A1',
        with: refund,
        model: [called('refund', { id: 'A1' }), says('As you like.')],
        answers: [false],
      },
      { says: 'Did you refund it?', model: [says('No.')] },
    ],
    ['The person said no', 'refund {"id":"A1"}'],
    ['said yes to this call'],
  ],
  [
    'what was said between two calls',
    [
      {
        says: 'Where is A1?',
        with: order,
        model: [
          { text: 'Let me look up A1.', calls: [{ name: 'get_order', arguments: { id: 'A1' } }] },
          says('It is in Rome.'),
        ],
        functions: [{ at: 'Rome' }],
      },
      { says: 'What did you look up?', model: [says('A1')] },
    ],
    ['Let me look up A1.', 'It is in Rome.'],
  ],
  [
    'what a lookup said before the work that it was handed to',
    [
      {
        says: 'Sort A1 out',
        with: order,
        model: [
          called('get_order', { id: 'A1' }),
          called('hand_off_to_work', { title: 'Sort it out', task: 'Sort A1 out' }),
          says('Sorted.'),
        ],
        functions: [{ warehouse: 'W-55' }],
      },
    ],
    ['W-55', 'What is to be done, as it was handed over'],
    ['hand_off_to_work'],
  ],
  [
    'a search of its own routines',
    [
      { says: 'What do you do daily?', model: [called('routines_list'), says('Nothing.')] },
      { says: 'Sure?', model: [says('Yes.')] },
    ],
    ['routines_list'],
  ],
];

export const questions: readonly TalkRow[] = [
  [
    'its question and the answer',
    [
      { says: 'I want shoes', model: [ask('Which size do you wear?'), says('Noted.')], answers: ['EU-SIZE-43'] },
      { says: 'Which size did I tell you?', model: [says('43')] },
    ],
    ['Which size do you wear?', 'EU-SIZE-43'],
  ],
  [
    'that the person would not answer',
    [
      { says: 'I want shoes', model: [ask('Which size?'), says('Fine.')], answers: [false] },
      { says: 'What did you ask?', model: [says('Your size.')] },
    ],
    ['Which size?', 'The person said no'],
  ],
  [
    'a question that is still open, in the conversation and behind the message',
    [
      { says: 'I want shoes', model: [ask('Which colour?')] },
      { says: 'What do you wait for?', model: [says('The colour.')] },
    ],
    [
      'Which colour?',
      'No answer has come yet',
      /open questions">\n- Question 1, asked by you, in an earlier reply: Which colour\?/,
    ],
  ],
  [
    'the options that it gave',
    [
      {
        says: 'I want shoes',
        model: [ask('Which?', { options: ['Red-9', 'Blue-7'] }), says('Red it is.')],
        answers: ['Red-9'],
      },
      { says: 'What else was there?', model: [says('Blue')] },
    ],
    ['Blue-7', 'Red-9'],
  ],
  [
    'what work asked and was answered, by its result',
    [
      { says: 'Buy shoes', with: work, model: [ask('Which size?'), says('Bought size 44.')], answers: ['44'] },
      { says: 'Which size?', model: [says('44')] },
    ],
    ['Bought size 44.', 'is done'],
  ],
  [
    'a plan that was approved, by how the work ended',
    [
      {
        says: 'Move house',
        with: { ...work, plan: true },
        model: [
          called('update_plan', { title: 'Move', steps: [{ content: 'Pack', status: 'pending' }] }),
          says('Moved on 2026-12-01.'),
        ],
        answers: [true],
      },
      { says: 'When?', model: [says('1 December')] },
    ],
    ['Moved on 2026-12-01.', 'The work “Move” is done'],
  ],
];

export const endings: readonly TalkRow[] = [
  [
    'that its work failed',
    [
      { says: 'Book me a flight', with: work, model: [broken] },
      { says: 'Is my flight booked?', model: [says('No.')] },
    ],
    ['ended without a result', 'This work could not be finished.'],
  ],
  [
    'that its work was stopped',
    [
      { says: 'Book me a flight', with: work, model: [{ fail: 'hang' }], isStopped: true },
      { says: 'Is my flight booked?', model: [says('No.')] },
    ],
    ['ended without a result', 'The work was stopped.'],
  ],
  [
    'what its work said',
    [
      { says: 'Find a flight', with: work, model: [says('LH-400 at 9:40.')] },
      { says: 'Which one?', model: [says('LH-400')] },
    ],
    ['LH-400 at 9:40.', 'is done'],
  ],
  [
    'what the work was called and what the person was told when it began',
    [
      {
        says: 'Find a flight',
        model: [
          {
            text: 'I look for one.',
            calls: [{ name: 'hand_off_to_work', arguments: { title: 'Flight to Oslo', task: 'Find one' } }],
          },
          says('SK-1.'),
        ],
      },
      { says: 'Which one?', model: [says('SK-1')] },
    ],
    ['I look for one.', 'The work was started.', 'The work “Flight to Oslo” is done', 'SK-1.'],
  ],
  [
    'that a reply failed',
    [
      { says: 'Hello?', model: [broken] },
      { says: 'And?', model: [says('Sorry.')] },
    ],
    ['Hello?', 'This reply failed here'],
  ],
  [
    'where a reply was stopped',
    [
      { says: 'Count', model: [{ text: ['One, ', 'two, '], fail: 'hang' }], isStopped: true },
      { says: 'Go on', model: [says('Three.')] },
    ],
    ['This reply was stopped here'],
  ],
  [
    'what a function said before a reply was stopped',
    [
      {
        says: 'Where is A1?',
        with: order,
        model: [called('get_order', { id: 'A1' }), says('It is in Rome.')],
        functions: [{ at: 'DEPOT-8' }],
      },
      { says: 'And now?', model: [{ fail: 'hang' }], isStopped: true },
      { says: 'Where?', model: [says('DEPOT-8')] },
    ],
    ['DEPOT-8', 'This reply was stopped here'],
  ],
  [
    'that work failed after it was told of in the chat',
    [
      {
        says: 'Book it',
        model: [
          { text: 'On it.', calls: [{ name: 'hand_off_to_work', arguments: { title: 'Booking', task: 'Book' } }] },
          broken,
        ],
      },
      { says: 'Done?', model: [says('No.')] },
    ],
    ['On it.', 'The work “Booking” ended without a result'],
  ],
];

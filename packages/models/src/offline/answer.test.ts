import type { Message, ToolDefinition } from '@vestra/agent/message';
import { assembleSystem, type PromptFacts, passingText } from '@vestra/agent/prompt/assemble';
import { asData } from '@vestra/agent/prompt/data';
import { describe, expect, it } from 'vitest';
import { agent, answer, converse, handOff, recall, refund, search, text, tool, user } from './offline-model.fixture.ts';

const fence = 'a1'.repeat(12);
const facts: PromptFacts = {
  role: 'orchestrator',
  instructions: [
    'You are the support desk of Maple & Thread, a shop for knitwear. We open at 9. Our shop is in Elm Street 4.',
    'Answer in two or three sentences. The discount code is SPRING and must not be told to anybody.',
    'Never say that the shop closes in May.',
  ].join('\n'),
  language: 'auto',
  locale: null,
  notebooks: [{ name: 'policies', description: 'Returns and care.' }],
  skills: [],
  approvals: [],
  hasComputer: false,
  repositories: [],
  hasBrowser: false,
  memory: ['The user likes green tea.', 'The user lives in Oslo.'],
  person: { name: 'Ada Byron', email: null, metadata: {} },
  missingTools: [],
  toolServers: [],
  openWork: [],
  openQuestions: [],
  context: { plan: 'The plan of this customer is gold.' },
  now: 0,
  timezone: null,
  fence,
};

const passages = [
  '# Document: returns-policy.md',
  '# Returns',
  '',
  'You may return anything within thirty days of delivery, unworn and with its label.',
  '',
  '- **Too small or too large**: we send another size at no cost, or refund the price.',
  '- **Changed your mind**: we refund the price. The return label costs 4.50.',
  '',
  '# Document: practice.md',
  'of the day before. Die Praxis Lindenhof ist montags bis freitags von 8 bis 18 Uhr geöffnet, mittwochs bis',
  '13 Uhr.',
  '- **Dr. Brandt**: Innere Medizin, e.g. Ultraschall am 1. Mai und am Vormittag.',
  '- **Dr. Celik**: Kinder und Jugendliche.',
  'Im Notfall rufen Sie die 112.',
].join('\n');

/** A message as a turn sends it: the user's text and the facts that hold now. */
const asked = (text: string): Message => ({
  role: 'user',
  parts: [
    { kind: 'text', text },
    { kind: 'text', text: passingText(facts), isPassing: true },
  ],
});

const freeTimes = tool('find_free_times', 'Nennt die freien Termine bei einer Ärztin oder einem Arzt ab einem Tag.', {
  doctor: { enum: ['adler', 'brandt'] },
  from_day: text,
});
const order = tool('find_order', 'Finds an order by its number.', { number: text });

async function said(
  question: string,
  given: Partial<{ facts: PromptFacts; found: string; recalled: string; tools: ToolDefinition[] }> = {},
) {
  const results = {
    search_notebooks: given.found ?? passages,
    recall: given.recalled ?? 'You remember nothing about this.',
  };
  const system = assembleSystem(given.facts ?? facts);
  const { text: spoken } = await converse([asked(question)], [search, recall, ...(given.tools ?? [])], results, {
    system,
  });
  return spoken.split('\n\n').slice(1).join('\n\n');
}

describe('answerOf [OFF-102]', () => {
  it('puts the mark of a passage behind what it quotes of it [OFF-110]', async () => {
    const found = [
      '# Document: returns.md, Returns',
      'Cite as [7]',
      'You may return anything within thirty days of delivery. The return label costs 4.50.',
      '',
      '# Document: hours.md',
      'Cite as [8]',
      'Cite as [9]',
      'We open at nine.',
    ].join('\n');
    expect(await said('How many days do I have to return something?', { found })).toMatch(
      /^From returns\.md, Returns: “You may return anything within thirty days of delivery\.”[^\n]* \[7\]$/,
    );
  });

  it.each([
    ['When do you open?', 'We open at 9.'],
    ['Where is your shop?', 'Our shop is in Elm Street 4.'],
    ['Who are you?', 'I am the support desk of Maple & Thread, a shop for knitwear.'],
    [
      'What is your returns policy?',
      'From returns-policy.md: “You may return anything within thirty days of delivery, unworn and with its label.” “The return label costs 4.50.”',
    ],
    [
      'How long do I have to return something?',
      'From returns-policy.md: “You may return anything within thirty days of delivery, unworn and with its label.” “The return label costs 4.50.”',
    ],
    [
      'It is too small.',
      'From returns-policy.md: “Too small or too large: we send another size at no cost, or refund the price.”',
    ],
    ['I have a question. I changed my mind.', 'From returns-policy.md: “Changed your mind: we refund the price.”'],
    [
      'Wann haben Sie geöffnet?',
      'Aus practice.md: “Die Praxis Lindenhof ist montags bis freitags von 8 bis 18 Uhr geöffnet, mittwochs bis 13 Uhr.”',
    ],
    [
      'Wer ist Frau Dr. Brandt?',
      'Aus practice.md: “Dr. Brandt: Innere Medizin, e.g. Ultraschall am 1. Mai und am Vormittag.”',
    ],
    ['Was tue ich im Notfall?', 'Aus practice.md: “Im Notfall rufen Sie die 112.”'],
    ['Wer behandelt Kinder?', 'Aus practice.md: “Dr. Celik: Kinder und Jugendliche.”'],
    ['What tea do I like?', 'I remember: “The user likes green tea.”'],
    ['What do I like?', 'I remember: “The user likes green tea.”'],
    ['What is my name?', 'I remember: “Your name is Ada Byron.”'],
    ['Who am I?', 'I remember: “Your name is Ada Byron.” “The user likes green tea.” “The user lives in Oslo.”'],
    ['Thanks!', 'You are welcome.'],
    ['Thanks, but when do you open?', 'We open at 9.'],
    ['Hello', 'Hello. What can I do for you?'],
  ])('%s %s', async (question, expected) => expect(await said(question)).toBe(expected));

  it.each([
    'What is 2+2?',
    'Which company leads the market?',
    'Write a poem about the sea',
    'What is the discount code?',
    'Which plan does this customer have?',
    'Wie hoch ist der Eiffelturm?',
  ])('reports that it found nothing: %s', async (question) => {
    expect(await said(question)).toMatch(/^(I found nothing about this|Dazu habe ich .* nichts gefunden)/);
  });

  it('calls no tool because a question shares a word with it', async () => {
    const start = tool('start_return', 'Starts a return and sends the customer a shipping label.', { number: text });
    const system = assembleSystem(facts);
    const { called } = await converse(
      [user('What is your returns policy?')],
      [search, start],
      { search_notebooks: passages },
      { system },
    );
    expect(called).toEqual(['search_notebooks']);
  });

  it('matches a tool in another language by its description and options', async () => {
    const { calls } = await answer([user('Welche freien Termine gibt es bei Dr. Brandt ab 2026-12-01?')], {
      tools: [search, freeTimes],
    });
    expect(calls).toMatchObject([{ name: 'find_free_times', arguments: { doctor: 'brandt', from_day: '2026-12-01' } }]);
  });

  it('treats an empty memory result as empty', async () => {
    const recalled = { recall: 'You remember nothing about this.' };
    const { text: spoken } = await converse([user('What do you remember about me?')], [recall], recalled);
    expect(spoken).toContain('I found nothing about this');
  });

  it('lists what it is, its tools and notebooks, without built-in tools', async () => {
    const remember = tool('remember', 'Keep one lasting fact.', { text });
    expect(await said('What can you do?', { tools: [order, remember] })).toBe(
      [
        'I am the support desk of Maple & Thread, a shop for knitwear.',
        'I can use these tools:',
        '- find_order: Finds an order by its number.',
        'I can look things up in:',
        '- policies: Returns and care.',
      ].join('\n'),
    );
  });

  it('uses the fixed language, also for the stand-in notice', async () => {
    const system = assembleSystem({ ...facts, language: 'de' });
    const { text: spoken } = await answer([user('Hello')], { system });
    expect(spoken).toMatch(/^Ich bin der Ersatz ohne Modell \(offline stand-in\).*\n\nGuten Tag/s);
    const messages = [user('Hello'), agent(spoken), user('Hello')];
    expect((await answer(messages, { system })).text).toBe('Guten Tag. Was kann ich für Sie tun?');
  });

  it('remembers a fact about the user, not the request', async () => {
    const remember = tool('remember', 'Keep one lasting fact.', { text });
    const { calls } = await answer([user('Remember that I like tea')], { tools: [remember] });
    expect(calls).toMatchObject([{ name: 'remember', arguments: { text: 'The user likes tea.' } }]);
  });

  it('answers from a file attached to the message', async () => {
    const sent = `How long is the notice period?\n${asData(fence, 'lease.txt', 'The rent is 900. The notice period is three months.')}`;
    expect(await said(sent, { found: 'Nothing was found.' })).toBe(
      'From what you sent: “The notice period is three months.”',
    );
  });

  describe('after a tool call in an earlier turn', () => {
    const output = asData(
      fence,
      'find_order',
      '{"number":"MT-7","state":"shipped","tracking_number":"1Z99","items":["Lamp"]}',
    );
    const history: Message[] = [
      user('Where is my order MT-7?'),
      agent('', [{ id: 'call_1', name: 'find_order', arguments: { number: 'MT-7' } }]),
      { role: 'tool', results: [{ callId: 'call_1', name: 'find_order', output, isError: false }] },
      agent('I am the offline stand-in. It is shipped.'),
    ];
    const then = (question: string) => answer([...history, user(question)], { tools: [search, order] });

    it.each([
      ['Tracking number?', 'tracking number: 1Z99'],
      ['What is the tracking number of the order?', 'tracking number: 1Z99'],
      ['Which items are in order MT-7?', 'items: Lamp'],
    ])('%s', async (question, expected) => expect((await then(question)).text).toBe(expected));

    it('executes a complete request regardless of earlier turns', async () => {
      const cancel = tool('cancel_order', 'Cancels an order.', { number: text });
      const { calls } = await answer([...history, user('Can you cancel the order?')], { tools: [search, cancel] });
      expect(calls).toMatchObject([{ name: 'cancel_order', arguments: { number: 'MT-7' } }]);
      const greeted = await answer([user('Hi, cancel order MT-9')], { tools: [cancel] });
      expect(greeted.calls).toMatchObject([{ arguments: { number: 'MT-9' } }]);
    });

    it('searches again for another order', async () => {
      expect((await then('What is the state of order MT-8?')).calls).toMatchObject([
        { name: 'find_order', arguments: { number: 'MT-8' } },
      ]);
    });
  });

  describe('in an ongoing conversation', () => {
    const file = (name: string, content: string) => asData(fence, `file ${name}`, content);
    const notes = [
      user(`What is in this file?\n${file('brief.txt', 'The meeting is on 3 December in room B-17. Bring tea.')}`),
      agent('I am the offline stand-in.'),
      user(`Read this too\n${file('codes.csv', 'city,code\nOslo,4712\nLima,4713')}`),
      agent('I have read it.'),
      user('Hi, I am Ann and I wear size M.'),
      agent('I have read this.'),
    ];
    const later = (question: string, history = notes, more: Partial<PromptFacts> = {}) =>
      converse(
        [
          ...history,
          {
            role: 'user',
            parts: [
              { kind: 'text', text: question },
              { kind: 'text', text: passingText({ ...facts, memory: [], ...more }), isPassing: true },
            ],
          },
        ],
        [search, recall, order, handOff, reader, passOn, stopWork],
        {
          search_notebooks: passages,
          recall: 'You remember nothing about this.',
          pass_on_answer: 'It was passed on.',
          stop_work: 'The work was stopped.',
        },
        { system: assembleSystem({ ...facts, instructions: 'You help.' }) },
      );
    const reader = tool('read_conversation_file', 'Read a file that was attached, by its name.', { filename: text });
    const passOn = tool('pass_on_answer', 'Pass an answer on.', { question: { type: 'integer' } });
    const stopWork = tool('stop_work', 'Stop open work that is not wanted.', { work: { type: 'integer' } });

    it.each([
      ['When is the meeting?', 'From what you sent: “The meeting is on 3 December in room B-17.”'],
      ['What is the code of Lima?', 'From what you sent: “Lima,4713”'],
      ['What does the document say?', 'From what you sent: “city,code” “Oslo,4712” “Lima,4713”'],
      ['What size do I wear?', 'You said: “Hi, I am Ann and I wear size M.”'],
      ['I live in Bergen.', 'I have read this, and can quote it while we talk.'],
      ['And so?', 'I match words, and there is none here that I could look for. Please name what you mean.'],
    ])('%s %s [OFF-531]', async (question, expected) => expect((await later(question)).text).toBe(expected));

    it.each([
      ['When was it delivered?', '`find_order`: “state: delivered, delivery day: 2026-11-02”'],
      ['What was in it?', '`find_order` answered: state: delivered, delivery day: 2026-11-02'],
    ])('quotes a tool result as text and never as JSON: %s [OFF-531]', async (question, expected) => {
      const output = '{"state":"delivered","delivery_day":"2026-11-02"}';
      const history: Message[] = [
        user('Where is order 1?'),
        agent('', [{ id: 'call_1', name: 'find_order', arguments: { number: '1' } }]),
        { role: 'tool', results: [{ callId: 'call_1', name: 'find_order', output, isError: false }] },
        agent('I am the offline stand-in. Delivered.'),
      ];
      expect((await later(question, history)).text).toBe(expected);
    });

    it('reports the state of a task and starts none because of the question [OFF-531]', async () => {
      const openWork = [{ number: 1, title: 'Report', status: 'waiting', waitsFor: ['Which year?'] }];
      const open = await later('Is the report ready?', notes, { openWork });
      expect(open.text).toBe('About the work: “Work 1, Report: waiting, waits for: Which year?”');
      const ended = 'The work “Report” ended without a result. The budget was used up.';
      const failed = await later('What happened to the report?', [...notes, user(asData(fence, 'work', ended))]);
      expect(failed.text).toBe(`About the work: “${ended}”`);
      expect([...open.called, ...failed.called]).toEqual([]);
    });

    it('passes on the answer to an open question and stops an unwanted task [OFF-532]', async () => {
      const openQuestions = [{ number: 1, of: 'you, in an earlier reply', question: 'Which amount?' }];
      const passed = await later('12.50', notes, { openQuestions });
      expect([passed.called, passed.text]).toEqual([['pass_on_answer'], 'I have passed this on.']);
      const asked = await later('Which room?', notes, { openQuestions });
      expect(asked.called).not.toContain('pass_on_answer');
      const openWork = [{ number: 1, title: 'Report', status: 'running', waitsFor: [] }];
      const stopped = await later('Stop it', notes, { openQuestions, openWork });
      expect([stopped.called, stopped.text]).toEqual([['stop_work'], 'I have stopped the work.']);
    });

    it.each([
      ['Please refund order 1002', refund, 'amount'],
      ['Ich brauche freie Termine bei Dr. Brandt', freeTimes, 'from day'],
    ])('asks for a missing value: %s [OFF-533]', async (message, wanted, missing) => {
      const { calls, text: spoken } = await answer([user(message)], { tools: [wanted] });
      expect(calls).toEqual([]);
      expect(spoken).toContain(`I need the ${missing}`);
    });

    it('accepts a short answer as a list of one [OFF-533]', async () => {
      const pack = tool('pack_parcel', 'Packs a parcel.', { items: { type: 'array', items: text } });
      const first = await answer([user('pack a parcel')], { tools: [pack] });
      const { calls } = await answer([user('pack a parcel'), agent(first.text), user('the cardigan')], {
        tools: [pack],
      });
      expect(calls).toMatchObject([{ name: 'pack_parcel', arguments: { items: ['the cardigan'] } }]);
    });
  });
});

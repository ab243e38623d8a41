import type { Message, ToolDefinition } from '@vestra/agent/message';
import { assembleSystem, type PromptFacts, passingText } from '@vestra/agent/prompt/assemble';
import { asData } from '@vestra/agent/prompt/data';
import { describe, expect, it } from 'vitest';
import { agent, answer, converse, recall, search, text, tool, user } from './offline-model.fixture.ts';

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
  hasBrowser: false,
  memory: ['The user likes green tea.', 'The user lives in Oslo.'],
  person: { name: 'Ada Byron', email: null, metadata: {} },
  missingTools: [],
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

/** As a turn sends it: what the person said, and what holds now. */
const asked = (text: string): Message => ({
  role: 'user',
  parts: [
    { kind: 'text', text },
    { kind: 'text', text: passingText(facts), isPassing: true },
  ],
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

describe('what the stand-in answers [OFF-102]', () => {
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
  ])('says that it found nothing: %s', async (question) => {
    expect(await said(question)).toMatch(/^(I found nothing about this|Dazu habe ich .* nichts gefunden)/);
  });

  it('starts nothing because a question shares a word with a tool', async () => {
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

  it('calls a tool that is described in another language by the words of its description and options', async () => {
    const doctor = { enum: ['adler', 'brandt'] };
    const free = tool('find_free_times', 'Nennt die freien Termine bei einer Ärztin oder einem Arzt ab einem Tag.', {
      doctor,
      from_day: text,
    });
    const { calls } = await answer([user('Welche freien Termine gibt es bei Dr. Brandt ab 2026-12-01?')], {
      tools: [search, free],
    });
    expect(calls).toMatchObject([{ name: 'find_free_times', arguments: { doctor: 'brandt', from_day: '2026-12-01' } }]);
  });

  it('takes what the memory says of nothing for nothing', async () => {
    const recalled = { recall: 'You remember nothing about this.' };
    const { text: spoken } = await converse([user('What do you remember about me?')], [recall], recalled);
    expect(spoken).toContain('I found nothing about this');
  });

  it('says what it can do: what it is, its tools and notebooks, and no tool of the house', async () => {
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

  it('speaks the language that is fixed, and says there too that it is a stand-in', async () => {
    const system = assembleSystem({ ...facts, language: 'de' });
    const { text: spoken } = await answer([user('Hello')], { system });
    expect(spoken).toMatch(/^Ich bin der Ersatz ohne Modell \(offline stand-in\).*\n\nGuten Tag/s);
    const messages = [user('Hello'), agent(spoken), user('Hello')];
    expect((await answer(messages, { system })).text).toBe('Guten Tag. Was kann ich für Sie tun?');
  });

  it('remembers a fact about the person, not the request', async () => {
    const remember = tool('remember', 'Keep one lasting fact.', { text });
    const { calls } = await answer([user('Remember that I like tea')], { tools: [remember] });
    expect(calls).toMatchObject([{ name: 'remember', arguments: { text: 'The user likes tea.' } }]);
  });

  it('answers from a file that came with the message', async () => {
    const sent = `How long is the notice period?\n${asData(fence, 'lease.txt', 'The rent is 900. The notice period is three months.')}`;
    expect(await said(sent, { found: 'Nothing was found.' })).toBe(
      'From what you sent: “The notice period is three months.”',
    );
  });

  describe('after a tool was called in an earlier turn', () => {
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

    it('does what a message says in full, whatever was told before', async () => {
      const cancel = tool('cancel_order', 'Cancels an order.', { number: text });
      const { calls } = await answer([...history, user('Can you cancel the order?')], { tools: [search, cancel] });
      expect(calls).toMatchObject([{ name: 'cancel_order', arguments: { number: 'MT-7' } }]);
      const greeted = await answer([user('Hi, cancel order MT-9')], { tools: [cancel] });
      expect(greeted.calls).toMatchObject([{ arguments: { number: 'MT-9' } }]);
    });

    it('looks again for another order', async () => {
      expect((await then('What is the state of order MT-8?')).calls).toMatchObject([
        { name: 'find_order', arguments: { number: 'MT-8' } },
      ]);
    });
  });
});

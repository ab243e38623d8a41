import { describe, expect, it } from 'vitest';
import { hasPython, scriptOf } from './scripts.fixture.ts';
import { builtInSkills } from './skill-files.ts';

describe.skipIf(!hasPython)('the script of web-research', () => {
  const fees = ['--title', 'Fees', '--publisher', 'The city', '--published', '2025-03'];

  it('numbers sources and recognizes a page by another URL', () => {
    const { run } = scriptOf('web-research', 'sources.py');
    expect(run('add', '--url', 'https://www.example.com/fees/?utm_source=x&a=1', ...fees).stdout).toBe('[1] Fees\n');
    expect(run('add', '--url', 'https://b.example/other', '--title', 'Other').stdout).toBe('[2] Other\n');
    const again = run('add', '--url', 'http://example.com/fees?a=1', '--title', 'x', '--claim', 'It is 45 euros');
    expect(again.stdout).toBe('[1] Fees\n');
    const { stdout } = run('list', '--claims');
    expect(stdout).toContain('[1] Fees. The city, 2025-03. https://www.example.com/fees/?utm_source=x&a=1 (opened ');
    expect(stdout).toContain('- It is 45 euros');
    expect(stdout).toContain('[2] Other. not dated.');
  });

  it('reports gaps in a draft and accepts a complete one', () => {
    const { put, run } = scriptOf('web-research', 'sources.py');
    const quote = 'an application costs EUR 45 from now on';
    run('add', '--url', 'https://example.com/fees', ...fees, '--claim', 'It costs 45', '--quote', quote);
    run('add', '--url', 'https://example.org/b', '--title', 'Not used');
    const draft = `# Fees in 2025\n\nIt costs 45 euros [1], "${quote}" [1].\n\nIn 2019 it was 30 euros.\n\n- 12% pay [7]\n
The city says "nobody ever pays anything here at all" too.\n`;
    const checked = run('check', put('draft.md', draft));
    expect(checked.status).toBe(1);
    for (const problem of [
      'no source 7',
      'Source [2] (Not used) is not cited',
      'Near line 5: “In 2019 it was 30 euros.',
      'The quotation “nobody ever pays',
      '4 to mend',
    ]) {
      expect(checked.stdout).toContain(problem);
    }
    const whole = `It costs 45 euros [1-2].\n\n“${quote}” [1]\n\n## Sources\n\n[9] 2025 in the list is no citation\n`;
    expect(run('check', put('draft.md', whole))).toMatchObject({ status: 0 });
  });

  it.each([
    ['no address', ['--url', 'example', '--title', 'x'], 'is no address'],
    ['no date', ['--url', 'https://a.example', '--title', 'x', '--published', 'May'], 'is no date'],
  ])('refuses %s', (_what, words, reason) => {
    const { run } = scriptOf('web-research', 'sources.py');
    expect(run('add', ...words)).toMatchObject({ status: 2, stderr: expect.stringContaining(reason) });
  });
});

describe.skipIf(!hasPython)('the script of drafting-email', () => {
  const { put, run } = scriptOf('drafting-email', 'check_email.py');
  const check = (draft: string) => run(put('draft.txt', draft), '--today', '2026-05-11');
  const email = ({ head = '', first = 'Dear Ms Okafor,', text = 'Please confirm by Thursday 14 May.' } = {}) =>
    `To: Ada Okafor <ada@example.com>\nSubject: Order 4711: please confirm by Thursday\n${head}\n${first}\n\n${text}\n\nKind regards,\nTom\n`;

  it('accepts a correct email', () => {
    expect(check(email())).toMatchObject({ status: 0, stdout: '0 errors, 0 warnings, 12 words.\n' });
  });

  it.each([
    ['a place left blank', email({ text: 'Dear [NAME], the price is {{price}}.' }), '`[NAME]` is a place'],
    ['an attachment that is not there', email({ text: 'The plan is attached.' }), 'no attachment is listed'],
    ['a salutation for somebody else', email({ first: 'Dear Mr Silva,' }), 'fits nobody'],
    ['a weekday that does not fit', email({ text: 'We meet on Monday 19 May 2026.' }), 'is a Tuesday in 2026'],
    ['a day that is none', email({ text: 'We meet on Monday, February 30.' }), 'is no date'],
    ['a card number', email({ text: 'Use 4111 1111 1111 1111 to pay.' }), 'card number'],
    ['a password', email({ text: 'The password is hunter2 for now.' }), 'password'],
    ['no subject', 'To: a@example.com\n\nDear all,\n\nText.\n', 'no subject'],
    ['no recipient', 'Subject: Order 4711 arrives on Friday\n\nDear all,\n\nText.\n', 'no recipient'],
    ['a broken address', email({ head: 'Cc: bob@example\n' }), '`bob@example` in Cc'],
  ])('reports %s', (_what, draft, finding) => {
    const { status, stdout } = check(draft);
    expect(stdout).toContain('error: ');
    expect(stdout).toContain(finding);
    expect(status).toBe(1);
  });

  it.each([
    ['an attachment that is listed', email({ head: 'Attachments: plan.pdf\n', text: 'The plan is attached.' })],
    ['a link', email({ text: 'See [the plan](https://example.com) or <https://example.com>.' })],
    ['a number that is no card', email({ text: 'The parcel is 4111 1111 1111 1112.' })],
    ['what others wrote', email({ text: 'Yes.\n\n> Dear [NAME], it is attached on Monday 19 May 2026' })],
    ['an address without a gap', email({ first: 'Hi Ada,' }).replace('Ada Okafor <ada@', '<adaokafor@')],
  ])('accepts %s', (_what, draft) => {
    expect(check(draft)).toMatchObject({ status: 0 });
  });

  it('accepts the examples in its templates', async () => {
    const templates = (await builtInSkills())
      .find(({ name }) => name === 'drafting-email')
      ?.files.filter(({ path }) => path.startsWith('templates/'));
    expect(templates?.length).toBeGreaterThan(4);
    for (const { path, content } of templates ?? []) {
      const example = content.split('## Example\n')[1]?.trim() ?? '';
      const subject = example.startsWith('Subject:') ? '' : 'Subject: Re: Chairs for the fair\n\n';
      const to = 'To: Ada Okafor <ada@example.com>, Luis Silva <luis@example.com>\n';
      expect([path, check(`${to}${subject}${example}`).stdout]).toEqual([path, expect.stringMatching(/^0 errors, 0 /)]);
    }
  });
});

describe.skipIf(!hasPython)('the script of meeting-notes', () => {
  const { put, run } = scriptOf('meeting-notes', 'outline.py');
  const outline = (transcript: string, ...words: string[]) =>
    JSON.parse(run(put('transcript.txt', transcript), '--json', ...words).stdout) as {
      speakers: { speaker: string; turns: number; words: number; share: number }[];
      turns: { speaker: string; begin: number | null; text: string }[];
      candidates: Record<string, { speaker: string; text: string }[]>;
    };
  const turnsOf = (transcript: string) =>
    outline(transcript).turns.map(({ speaker, begin, text }) => [begin, speaker, text]);

  it.each([
    [
      'WebVTT',
      'WEBVTT\n\nNOTE made by a program\n\n1\n00:00:01.500 --> 00:00:03.000\n<v Ada Okafor>Hello &amp; welcome.</v>\n\n' +
        '00:03.000 --> 00:05.000\n<v Ada Okafor>Shall we begin?</v>\n\n01:00:05.000 --> 01:00:06.000\n<v Bob>Yes.</v>\n',
      [
        [1.5, 'Ada Okafor', 'Hello & welcome. Shall we begin?'],
        [3605, 'Bob', 'Yes.'],
      ],
    ],
    [
      'SRT',
      '1\r\n00:00:01,000 --> 00:00:02,000\r\nAda: Hello.\r\n\r\n2\r\n00:00:02,000 --> 00:00:03,000\r\nStill me.\r\n\r\n3\r\n00:00:04,000 --> 00:00:05,000\r\n[Bob]: Yes.\r\n',
      [
        [1, 'Ada', 'Hello. Still me.'],
        [4, 'Bob', 'Yes.'],
      ],
    ],
    [
      'stamped lines',
      '[00:12:03] Ada: The plan: we wait.\n[00:12:09] Bob: Yes\nit goes on\n(1:02:03) Ada: Bye',
      [
        [723, 'Ada', 'The plan: we wait.'],
        [729, 'Bob', 'Yes it goes on'],
        [3723, 'Ada', 'Bye'],
      ],
    ],
    [
      'names above the words',
      'Ada Okafor  0:12\nHello.\nSecond Point: with a colon.\n\nBob  1:02:03\nYes.\n',
      [
        [12, 'Ada Okafor', 'Hello. Second Point: with a colon.'],
        [3723, 'Bob', 'Yes.'],
      ],
    ],
    [
      'plain lines',
      'Dr. Ada Okafor: Hello.\nand we should note that this is: fine\nBob: Yes.\nDecision: none\n',
      [
        [null, 'Dr. Ada Okafor', 'Hello. and we should note that this is: fine'],
        [null, 'Bob', 'Yes. Decision: none'],
      ],
    ],
  ])('reads %s', (_what, transcript, turns) => {
    expect(turnsOf(transcript)).toEqual(turns);
  });

  it('counts the words per speaker and lists places to check', () => {
    const { speakers, candidates } = outline(
      'Ada: We decided to go with the blue one. Can you send the offer by Friday?\nBob: I’ll send it. What about red?\n',
    );
    expect(speakers).toEqual([
      { speaker: 'Ada', turns: 1, words: 15, share: 0.714 },
      { speaker: 'Bob', turns: 1, words: 6, share: 0.286 },
    ]);
    expect(candidates.decisions?.map(({ text }) => text)).toEqual(['We decided to go with the blue one.']);
    expect(candidates.actions?.map(({ speaker }) => speaker)).toEqual(['Ada', 'Bob']);
    expect(candidates.questions?.map(({ text }) => text)).toEqual([
      'Can you send the offer by Friday?',
      'What about red?',
    ]);
    expect(candidates.dates?.map(({ text }) => text)).toEqual(['Can you send the offer by Friday?']);
  });

  it('shows a time range', () => {
    const transcript = '[00:01] Ada: one\n[10:00] Bob: two\n[20:00] Ada: three\n';
    expect(outline(transcript, '--from', '5:00', '--to', '15:00').turns.map(({ text }) => text)).toEqual(['two']);
    const { stdout } = run(put('transcript.txt', transcript));
    expect(stdout).toContain('[00:10:00] Bob: two\n');
  });

  it('reports a transcript without speakers', () => {
    expect(run(put('transcript.txt', '\n\n'))).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('No spoken words'),
    });
  });
});

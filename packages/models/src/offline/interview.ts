import type { ModelRequest } from '@vestra/agent/model';
import { standInWords } from './phrases.ts';
import { situationOf } from './situation.ts';
import { jsonIn } from './words.ts';

type Interview = { name: string; description: string; answers: { question: string; answer: string }[] };

/** A question, and the label of its answer in the instructions; '' for an answer without a label. */
type Step = { asks: string; label: string | null };

const who: Step = { asks: 'Who will talk to the agent, and what do they come for?', label: 'Who comes' };
const never: Step = { asks: 'What must the agent never do or say?', label: 'Never' };
const facts: Step = {
  asks: 'What must the agent know by heart? Write whole sentences, such as: We open at nine.',
  label: '',
};
const systems: Step = {
  asks: 'Which functions of your own systems may it call? Name each, with commas between, such as: find order, refund order. Write “none” if there is none. What changes something waits for a person’s yes.',
  label: null,
};
const tone: Step = { asks: 'How should it sound, and in which language?', label: 'Tone and language' };
const opening: Step = { asks: 'What is a typical first message to it?', label: null };
const wanted: Step = {
  asks: 'Which words must a good answer to that message hold? Write them as they must be said, such as: thirty days.',
  label: null,
};

/** The first entry whose words occur in the description. */
const topics: [RegExp, Step][] = [
  [
    /\b(?:book|appointment|reserv|schedul|termin|cita|reserva)/i,
    { asks: 'What must be known before it books something, and who may change or cancel it?', label: 'Booking' },
  ],
  [
    /\b(?:repair|fix|trouble|technical|incident|outage|bug|it support|help ?desk|reparatur)/i,
    { asks: 'Which problems does it solve itself, and when does a person take over?', label: 'Problems' },
  ],
  [
    /\b(?:research|market|report|analy|news|summar|brief|study|studies)/i,
    {
      asks: 'Which sources may it use, and what does a finished piece of its work look like?',
      label: 'Sources and results',
    },
  ],
  [
    /\b(?:teach|tutor|learn|student|course|lesson|train)/i,
    { asks: 'What does it teach, and how does it find out what somebody knows already?', label: 'Teaching' },
  ],
  [
    /\b(?:order|return|refund|shop|store|sell|sale|deliver|product|customer|kund)/i,
    {
      asks: 'What does it tell about products, orders and returns, and when does a person take over?',
      label: 'Products and orders',
    },
  ],
  [
    /\b(?:e-?mail|letter|write|draft|post|content)/i,
    { asks: 'For whom does it write, and what may it send without being asked again?', label: 'Writing' },
  ],
];
const anyTopic: Step = {
  asks: 'What does a finished piece of its work look like, and when does a person take over?',
  label: 'Its work',
};

const stepsFor = (description: string): Step[] => [
  who,
  topics.find(([words]) => words.test(description))?.[1] ?? anyTopic,
  never,
  facts,
  systems,
  tone,
  opening,
  wanted,
];

const notice = `I am the ${standInWords}: no model provider is configured. I choose my questions by the words of your description and write your answers down as you give them.`;

/**
 * Asks questions based on the description, and writes a file with the verbatim answers. The last message contains JSON
 * `{name, description, answers: [{question, answer}]}`.
 */
export function interview(request: ModelRequest): { question: string; is_done: boolean; file: string } {
  const {
    name = 'agent',
    description = '',
    answers = [],
  } = (jsonIn(situationOf(request).asked) ?? {}) as Partial<Interview>;
  const steps = stepsFor(description);
  const question = steps[answers.length]?.asks ?? '';
  return {
    question: answers.length === 0 ? `${notice}\n\n${question}` : question,
    is_done: answers.length >= steps.length,
    file: JSON.stringify(fileOf({ name, description, answers }, steps), null, 2),
  };
}

function fileOf({ name, description, answers }: Interview, steps: readonly Step[]) {
  const given = answers.map(({ answer }) => answer.replace(/\s+/gu, ' ').trim());
  const answerTo = (step: Step) => given[steps.indexOf(step)] || undefined;
  const lines = given.flatMap((answer, at) => {
    const label = at < steps.length ? steps[at]?.label : 'Further';
    return label === null || answer === '' ? [] : [label ? `${label}: ${answer}` : answer];
  });
  const ask = answerTo(opening) ?? description;
  const tools = functionsIn(answerTo(systems) ?? '');
  const lookups = tools.flatMap((tool) => (tool.read_only ? [[tool.function, answerTo(wanted) ?? 'found']] : []));
  return {
    name,
    instructions: cut([description.trim(), ...lines].filter((line) => line !== '').join('\n'), 8000),
    ...(tools.length > 0 && { tools }),
    tests: [
      {
        name: 'Answers a typical request',
        persona: cut(answerTo(who) ?? 'A person who uses this agent for the first time.', 2000),
        ask: cut(ask, 2000),
        expect: expectation(answerTo(wanted), ask),
        ...(lookups.length > 0 && { tool_results: Object.fromEntries(lookups) }),
      },
    ],
  };
}

const lookingUp = /^(?:find|get|list|look|search|check|show|read|track|fetch|count)\b/i;
const mostWords = 5;

/** Accepts only names of a few words, not sentences. */
function functionsIn(answer: string) {
  const names = answer
    .split(/[,;.]|\band\b/u)
    .map((name) => name.trim().toLowerCase())
    .filter((name) => /^[a-z][a-z0-9 _-]{2,60}$/.test(name) && name.split(' ').length <= mostWords);
  return [...new Set(names)]
    .filter((name) => !/^(?:none|no|nothing|not)\b/.test(name))
    .slice(0, 8)
    .map((name) => ({
      function: name.replace(/[^a-z0-9]+/g, '_'),
      description: `${name.charAt(0).toUpperCase()}${name.slice(1)}.`,
      input: { what: 'string' },
      ...(lookingUp.test(name) && { read_only: true }),
    }));
}

const longestPhrase = 120;

/** Any judge can check for literal words, including the offline model. */
function expectation(words: string | undefined, ask: string): string {
  const phrase = words
    ?.replace(/["“”„«»]/gu, '')
    .replace(/[.!]{1,20}$/, '')
    .trim();
  if (!phrase || phrase.length > longestPhrase) return cut(`The agent answers this: ${words ?? ask}`, 500);
  return `The agent says "${phrase}".`;
}

const cut = (text: string, length: number) => {
  const line = text.trim() || 'Hello';
  return line.length <= length ? line : `${line.slice(0, length - 1).toWellFormed()}…`;
};

import type { ModelRequest } from '@vestra/agent/model';
import { situationOf } from './situation.ts';
import { jsonIn } from './words.ts';

type Interview = { name: string; description: string; answers: { question: string; answer: string }[] };

/** What every agent needs to know, whatever it is for. */
const questions = [
  'Who will talk to the agent, and what do they come for?',
  'What must the agent always do or say?',
  'What must the agent never do or say?',
  'How should it sound, and in which language?',
  'What is a typical first message, and what would a good answer to it hold?',
];

/**
 * The same five questions for everybody, and a file that holds the answers as they were given. The last message holds JSON
 * `{name, description, answers: [{question, answer}]}`.
 */
export function interview(request: ModelRequest): { question: string; is_done: boolean; file: string } {
  const {
    name = 'agent',
    description = '',
    answers = [],
  } = (jsonIn(situationOf(request).asked) ?? {}) as Partial<Interview>;
  return {
    question: questions[answers.length] ?? '',
    is_done: answers.length >= questions.length,
    file: JSON.stringify(fileOf({ name, description, answers }), null, 2),
  };
}

function fileOf({ name, description, answers }: Interview) {
  const given = answers.map(({ answer }) => answer.replace(/\s+/gu, ' ').trim());
  const labels = ['Who comes', 'Always', 'Never', 'Tone and language', 'A typical request'];
  const lines = [description.trim(), ...given.map((answer, at) => `${labels[at] ?? 'Further'}: ${answer}`)];
  return {
    name,
    instructions: cut(lines.filter((line) => line !== '').join('\n'), 8000),
    tests: [
      {
        name: 'Answers a typical request',
        persona: cut(given[0] ?? 'A person who uses this agent for the first time.', 2000),
        ask: cut(given[4] ?? description, 2000),
        expect: cut(`The agent answers this: ${given[4] ?? description}`, 500),
        ...(given[2] && { never: cut(`The agent does this: ${given[2]}`, 500) }),
      },
    ],
  };
}

const cut = (text: string, length: number) => {
  const line = text.trim() || 'Hello';
  return line.length <= length ? line : `${line.slice(0, length - 1).toWellFormed()}…`;
};

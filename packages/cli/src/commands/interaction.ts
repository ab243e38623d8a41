import type { Interaction } from '@vestra/sdk/resources';
import { yesTo } from '@vestra/sdk/yes';
import { plain } from '../output/show-value.ts';
import type { Terminal } from '../terminal.ts';

type Answer = {
  approve?: boolean;
  answers?: string[];
  decision?: 'done' | 'could_not' | 'not_now';
  present_user?: boolean;
  nonce?: string;
};

/** Describes a pending interaction for the person who decides. */
export function showInteraction({ paintError }: Pick<Terminal, 'paintError'>, interaction: Interaction): string {
  const marks = [
    interaction.moves_money && 'moves money',
    interaction.requires_present_user && 'in person',
    interaction.approver === 'org' && 'for the company to decide',
  ];
  const told = marks.filter(Boolean).join(', ');
  const { type, details } = interaction;
  const what = type === 'tool_call' ? `Your function ${details.tool_name} is called:` : interaction.summary;
  const head = `${paintError('yellow', '?')} ${plain(what)}${told ? ` (${told})` : ''}`;
  const rows = (type === 'approval' || type === 'tool_call') && details.rows ? details.rows : [];
  const lines = rows.map(({ label, title = label, value }) => `    ${plain(title)}: ${plain(value)}`);
  return `${[head, ...lines].join('\n')}\n`;
}

/** Returns complete commands that answer the interaction. */
export function howToAnswer(interaction: Interaction): string[] {
  const { id, type, kind, questions = [], needs, details, user_id } = interaction;
  if (kind === 'plan_limit') return [];
  const answer = `vestra answer ${id}`;
  switch (type) {
    case 'approval': {
      const no = `${answer} --no-approve`;
      return needs.includes('installation') ? [no] : [`${answer} --approve${proofOf(interaction)}`, no];
    }
    case 'question':
      return [`${answer} ${answersTo(questions)}`];
    case 'handoff':
      if (details.asks_for_value === true) return [`${answer} ${answersTo(questions)}`];
      return ['done', 'could_not', 'not_now'].map((decision) => `${answer} --decision ${decision}`);
    case 'tool_call':
      return [`${answer} --output '{"done": true}'`, `${answer} --error "It did not work."`];
    case 'connect':
      return [`vestra connections create --app ${plain(details.app)}${user_id ? ` --user ${user_id}` : ''}`];
  }
}

const proofOf = ({ needs, nonce }: Interaction) =>
  [needs.includes('present_user') && ' --present-user', needs.includes('nonce') && ` --nonce ${nonce}`]
    .filter(Boolean)
    .join('');

/** The options come from a model. Options with characters that a shell interprets are left for the user to fill in. */
const answersTo = (questions: NonNullable<Interaction['questions']>) =>
  questions
    .map(({ options: [first = ''] }) => `--answers "${/^[\p{L}\p{N} .,]+$/u.test(first) ? first : 'your answer'}"`)
    .join(' ');

/** Whether a person can answer it here: function calls and sign-ins happen elsewhere. */
export const isForPerson = ({ type }: Interaction): boolean => ['approval', 'question', 'handoff'].includes(type);

/** Asks the person at the terminal. */
export async function askPerson(interaction: Interaction): Promise<Answer> {
  const { askOne, askSeveral, askText, askYesNo } = await import('../prompts.ts');
  const { type, questions = [] } = interaction;
  if (type === 'approval') {
    const isYes = await askYesNo('Go ahead?', false);
    return isYes ? yesTo(interaction) : { approve: false };
  }
  if (type === 'handoff' && questions.length === 0) {
    const done = await askOne(plain(interaction.summary), ['done', 'could_not', 'not_now']);
    return { decision: done as 'done' | 'could_not' | 'not_now' };
  }
  const answers: string[] = [];
  for (const { question, options, multi_select: isSeveral } of questions) {
    const words = options.map(plain);
    if (options.length === 0) answers.push(await askText(plain(question)));
    else if (isSeveral) answers.push((await askSeveral(plain(question), words)).join(', '));
    else answers.push(await askOne(plain(question), words));
  }
  return { answers };
}

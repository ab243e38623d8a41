import type { Interaction } from '@vestra/sdk/resources';
import { plain } from '../output/show-value.ts';
import type { Terminal } from '../terminal.ts';

type Answer = {
  approve?: boolean;
  answers?: string[];
  decision?: 'done' | 'could_not' | 'not_now';
  present_user?: boolean;
  nonce?: string;
};

/** What the agent waits on, for a person to decide about. */
export function showInteraction({ paintError }: Pick<Terminal, 'paintError'>, interaction: Interaction): string {
  const marks = [interaction.moves_money && 'moves money', interaction.requires_present_user && 'in person'];
  const told = marks.filter(Boolean).join(', ');
  const { tool_name: tool } = interaction.details;
  const what = interaction.type === 'tool_call' ? `Your function ${tool} is called:` : interaction.summary;
  const head = `${paintError('yellow', '?')} ${plain(what)}${told ? ` (${told})` : ''}`;
  const rows = Array.isArray(interaction.details.rows) ? interaction.details.rows : [];
  const lines = rows.map(
    ({ label, value }: { label: string; value: string }) => `    ${plain(label)}: ${plain(String(value))}`,
  );
  return `${[head, ...lines].join('\n')}\n`;
}

/** How it is answered from another command line. */
export function howToAnswer({ id, type, questions = [], ...rest }: Interaction): string {
  const proof = rest.requires_present_user ? ' --present-user' : '';
  switch (type) {
    case 'approval':
      return `vestra answer ${id} --approve${proof} (or --no-approve)`;
    case 'question':
      return `vestra answer ${id} ${questions.map(() => '--answers "…"').join(' ')}`;
    case 'handoff':
      return `vestra answer ${id} --decision done (or could_not, not_now)`;
    case 'tool_call':
      return `vestra answer ${id} --output '{…}' (or --error "…")`;
    case 'connect':
      return 'vestra connections create';
  }
}

/** Whether a person can answer it right here: a call of the org's own function and a sign-in are done elsewhere. */
export const isForPerson = ({ type }: Interaction): boolean => ['approval', 'question', 'handoff'].includes(type);

/** Asks the person at the terminal. */
export async function askPerson(interaction: Interaction): Promise<Answer> {
  const { askOne, askSeveral, askText, askYesNo } = await import('../prompts.ts');
  const { type, questions = [], nonce, requires_present_user: isInPerson } = interaction;
  const proof = { ...(isInPerson && { present_user: true }), ...(nonce !== undefined && { nonce }) };
  if (type === 'approval') {
    const approve = await askYesNo('Go ahead?', false);
    return approve ? { approve, ...proof } : { approve };
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

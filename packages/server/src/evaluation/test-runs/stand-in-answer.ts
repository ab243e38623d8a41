import type { InteractionRow, Resolution } from '../../engine/interactions/index.ts';
import type { PlayedScenario } from './tables.ts';

/**
 * What comes of a wait in a test. The scenario decides over tools of the deployment's own servers, and every other wait
 * for a yes gets a no; only a question is put to the pretend user.
 */
export function standInAnswer(
  { type, purpose, details }: Pick<InteractionRow, 'type' | 'purpose' | 'details'>,
  { approves }: Pick<PlayedScenario, 'approves'>,
): Resolution | 'ask the user' {
  switch (type) {
    case 'approval': {
      const isForServer = purpose === 'permission' && typeof details.server === 'string';
      return { status: 'resolved', decision: isForServer && approves === true ? 'approved' : 'denied' };
    }
    case 'question':
      return 'ask the user';
    case 'handoff':
      return { status: 'resolved', decision: 'denied', reason: 'could_not', message: 'I could not do it.' };
    case 'connect':
      return { status: 'resolved', decision: 'denied' };
    case 'tool_call':
      return { status: 'resolved', decision: 'answered', output: 'This tool is not run in a test.', is_error: true };
  }
}

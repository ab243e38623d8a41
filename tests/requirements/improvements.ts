import { area } from '../requirement.ts';

export const improvements = area('improvements', 'done', [
  [
    'IMPR-700',
    'docs/improving.md#from-a-complaint-to-a-promotion',
    'An improvement reproduces a failure, proposes a change, proves it, and a person promotes it.',
  ],
  [
    'IMPR-701',
    'docs/improving.md#from-a-complaint-to-a-promotion',
    'A drafted scenario is played three times on the current version, and again on the proposed one.',
  ],
  [
    'IMPR-702',
    'docs/improving.md#privacy',
    'Values of the user are replaced before a scenario is stored, and events contain no scenarios.',
  ],
  ['IMPR-703', 'docs/improving.md#budget', '`cost_usd` is the exact sum of charges of kind `improvement` in usage.'],
  [
    'IMPR-704',
    'docs/improving.md#what-it-can-change',
    'Nothing runs a proposed version, and its documents exist only there.',
  ],
  [
    'IMPR-705',
    'docs/improving.md#what-it-can-change',
    'The server refuses a proposal that changes anything but instructions, descriptions of functions and documents.',
  ],
  [
    'IMPR-706',
    'docs/improving.md#what-it-can-change',
    'A proposal cannot add a link or an address that the deployment does not have.',
  ],
  ['IMPR-707', 'docs/improving.md#the-report', 'A failure that no text can fix is reported with the reason.'],
  [
    'IMPR-708',
    'docs/improving.md#the-report',
    'A proposal that breaks an existing scenario is rejected, and the next round gets the failure as input.',
  ],
  [
    'IMPR-709',
    'docs/improving.md#the-report',
    'A replayed conversation with another answer is a regression, unless the current version varies as well.',
  ],
  [
    'IMPR-710',
    'docs/improving.md#privacy',
    'A conversation that tries to change the agent is flagged, and changes nothing outside the limits.',
  ],
  [
    'IMPR-711',
    'docs/improving.md#start-an-improvement',
    'Bad input is refused with a clear error and creates nothing.',
  ],
  [
    'IMPR-712',
    'docs/improving.md#privacy',
    'An improvement stays within its org and mode, and leaves nothing of a deleted conversation.',
  ],
  ['IMPR-713', 'docs/improving.md#budget', 'An improvement makes no model call that could exceed its budget.'],
  [
    'IMPR-714',
    'docs/improving.md#restarts-and-cancelling',
    'Cancelling stops an improvement in any phase, also twice; what was played is billed, and nothing else remains.',
  ],
  [
    'IMPR-715',
    'docs/improving.md#from-a-complaint-to-a-promotion',
    '`vestra improve` starts an improvement, prints its phases and its report, and with `--pr` a text for a pull request.',
  ],
  [
    'IMPR-716',
    'docs/improving.md#from-a-complaint-to-a-promotion',
    '`vestra improve` edits only the changed texts, keeps comments, and writes nothing that is there already.',
  ],
  [
    'IMPR-717',
    'docs/improving.md#offline',
    'The offline model fixes instructions that state another number than a document.',
  ],
  [
    'IMPR-718',
    'docs/improving.md#restarts-and-cancelling',
    'An improvement that a kill cut off in any phase resumes by itself, and charges nothing twice.',
  ],
  [
    'IMPR-719',
    'docs/improving.md#privacy',
    'An improvement uses only conversations that the org’s `improvement_conversations` allows, also if it changes meanwhile.',
  ],
  [
    'IMPR-720',
    'docs/improving.md#privacy',
    'A key with scope `setup` alone starts no improvement, and reads no words of its scenarios and test runs.',
  ],
  [
    'IMPR-721',
    'docs/improving.md#privacy',
    'A deletion in any phase leaves nothing of the conversation. The improvement continues with the others, or ends with `no_failing_conversations`.',
  ],
  [
    'IMPR-722',
    'docs/improving.md#restarts-and-cancelling',
    'Improvements at once, a rollback of the base version and an archived deployment disturb nothing else.',
  ],
]);

import type { InteractionDraft } from '@vestra/agent/interaction';
import type { ToolCall } from '@vestra/agent/message';
import { askingTool, handingTool, type OwnTool, object, text } from '@vestra/agent/own-tool';

const day = 24 * 60 * 60;

const question = {
  question: text('The question, in the person’s language.', 1000),
  header: { type: 'string', maxLength: 60, description: 'A word or two above the question.' },
  options: {
    type: 'array',
    maxItems: 8,
    items: { type: 'string', minLength: 1, maxLength: 200 },
    description: 'Answers to choose from. The person may still write another.',
  },
  multi_select: { type: 'boolean', description: 'More than one option may be chosen.' },
};
const optional = ['header', 'options', 'multi_select'];

type Asked = { question: string; header?: string; options?: string[]; multi_select?: boolean };

export const askQuestion = (): OwnTool =>
  askingTool(
    {
      name: 'ask_question',
      description: 'Ask the person something that you cannot go on without, and wait for the answer.',
      input: object(
        {
          ...question,
          also: {
            type: 'array',
            maxItems: 3,
            items: object(question, optional),
            description: 'Further questions to answer together with the first.',
          },
          in_person: {
            type: 'boolean',
            description: 'True before an action on the computer that the person must approve in person: a yes or no.',
          },
        },
        [...optional, 'also', 'in_person'],
      ),
      isReadOnly: true,
    },
    questionDraft,
  );

function questionDraft({ arguments: given }: ToolCall): InteractionDraft {
  const {
    also = [],
    in_person: isInPerson = false,
    ...first
  } = given as Asked & {
    also?: Asked[];
    in_person?: boolean;
  };
  const summary = cut(first.question, 120);
  if (isInPerson) {
    return {
      kind: 'hands_approval',
      type: 'approval',
      summary,
      moves_money: false,
      requires_present_user: true,
      details: { question: first.question },
      expires_in_s: day,
    };
  }
  return {
    kind: 'ask_question',
    type: 'question',
    summary,
    moves_money: false,
    requires_present_user: false,
    questions: [first, ...also].map(asQuestion),
    details: {},
    expires_in_s: 7 * day,
  };
}

const asQuestion = ({ question: asked, header = '', options = [], multi_select = false }: Asked) => ({
  question: asked,
  header,
  options,
  multi_select,
});

/** Where the model does not say it; what the page asks for counts as well. */
const secretWords =
  /\b(pass ?(word|code|phrase)|one[- ]time|verification code|security code|otp|2fa|pin|card (number|details)|cvc|cvv)s?\b/i;

export const requestHandoff = (): OwnTool =>
  askingTool(
    {
      name: 'request_handoff',
      description:
        'Have the person do one thing that only they can do, such as signing in, and wait until they say so.',
      input: object(
        {
          request: text('What they should do, in their language.', 1000),
          asks_for_value: { type: 'boolean', description: 'True where they should tell you a value, such as a code.' },
          asks_for_secret: {
            type: 'boolean',
            description:
              'True where they enter a password, a one-time code or card details: the screen is then private.',
          },
        },
        ['asks_for_value', 'asks_for_secret'],
      ),
      isReadOnly: true,
    },
    ({ arguments: given }) => {
      const {
        request,
        asks_for_value: asksForValue = false,
        asks_for_secret: asksForSecret = secretWords.test(request),
      } = given as { request: string; asks_for_value?: boolean; asks_for_secret?: boolean };
      return {
        kind: 'ask_question',
        type: 'handoff',
        summary: cut(request, 120),
        moves_money: false,
        requires_present_user: false,
        questions: [asQuestion({ question: request })],
        details: { asks_for_value: asksForValue, asks_for_secret: asksForSecret },
        expires_in_s: 7 * day,
      };
    },
  );

export const handOffToWork = (): OwnTool =>
  handingTool({
    name: 'hand_off_to_work',
    description: 'Hand the message over to work that takes many steps. Say in one line what you are starting.',
    input: object({
      title: text('A name for the work, a few words.', 120),
      task: text('What is to be done, with everything that was said about it.', 8000),
    }),
    isReadOnly: true,
  });

/** Counted as the contract counts, with no character cut in two. */
function cut(given: string, length: number): string {
  const line = given.replace(/\s+/gu, ' ').trim();
  return line.length <= length ? line : `${line.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

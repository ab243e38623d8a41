import type OpenAI from 'openai';
import {
  type AnswerPiece,
  type ChatAnswer,
  finalWords,
  type TokensUsed,
  wordsFor,
} from '../chat-translation/answer.ts';

type Chunk = OpenAI.Chat.ChatCompletionChunk;
type ToolCall = OpenAI.Chat.ChatCompletionMessageFunctionToolCall;

/** A failed turn has no such form: its error is sent instead. */
export function chatCompletion(answered: ChatAnswer): OpenAI.Chat.ChatCompletion {
  const { row, pieces, used } = answered;
  const calls = pieces.flatMap((piece) => (piece.kind === 'call' ? [toolCall(piece)] : []));
  const text = chatText(answered);
  return {
    id: row.id,
    object: 'chat.completion',
    created: seconds(row.created_at),
    model: row.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text === '' ? null : text,
          refusal: null,
          ...(calls.length > 0 && { tool_calls: calls }),
        },
        logprobs: null,
        finish_reason: finishOf(answered),
      },
    ],
    usage: chatUsage(used),
  };
}

/** The final text, which the client sends back with its next message. */
export const chatText = (answered: ChatAnswer): string =>
  finalWords(answered, answered.row) ?? streamedChatText(answered);

export const streamedChatText = ({ pieces }: ChatAnswer): string => pieces.map(wordsOf).join('');

/** This format has no field for an approval, so it becomes text. */
function wordsOf(piece: AnswerPiece, at: number): string {
  if (piece.kind === 'text') return piece.text;
  if (piece.kind === 'call' || piece.kind === 'progress') return '';
  return `${at === 0 ? '' : '\n\n'}${wordsFor(piece.interaction)}`;
}

const toolCall = ({ id, name, arguments: given }: Extract<AnswerPiece, { kind: 'call' }>): ToolCall => ({
  id,
  type: 'function',
  function: { name, arguments: given },
});

function finishOf({ pieces, turn }: ChatAnswer): 'stop' | 'length' | 'tool_calls' {
  if (pieces.some(({ kind }) => kind === 'call')) return 'tool_calls';
  return turn?.reply?.truncated ? 'length' : 'stop';
}

const chatUsage = ({ input, cached, output }: TokensUsed): OpenAI.CompletionUsage => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  prompt_tokens_details: { cached_tokens: cached },
});

/** The chunks of a stream: one per piece, then the finish reason and, if requested, the usage. */
export function chatChunks(
  row: ChatAnswer['row'],
  { withUsage }: { withUsage: boolean },
): { begin: () => Chunk; piece: (piece: AnswerPiece) => Chunk[]; end: (answered: ChatAnswer) => Chunk[] } {
  let pieces = 0;
  let calls = 0;
  const chunk = (choices: Chunk['choices']): Chunk => ({
    id: row.id,
    object: 'chat.completion.chunk',
    created: seconds(row.created_at),
    model: row.model,
    choices,
    ...(withUsage && { usage: null }),
  });
  const delta = (
    given: Chunk['choices'][number]['delta'],
    finish_reason: 'stop' | 'length' | 'tool_calls' | null = null,
  ) => chunk([{ index: 0, delta: given, logprobs: null, finish_reason }]);
  return {
    begin: () => delta({ role: 'assistant', content: '', refusal: null }),
    piece: (piece) => {
      const at = pieces++;
      if (piece.kind === 'progress') return [];
      if (piece.kind !== 'call') return [delta({ content: wordsOf(piece, at) })];
      return [delta({ tool_calls: [{ index: calls++, ...toolCall(piece) }] })];
    },
    end: (answered) => [
      delta({}, finishOf(answered)),
      ...(withUsage ? [{ ...chunk([]), usage: chatUsage(answered.used) }] : []),
    ],
  };
}

const seconds = (at: Date) => Math.floor(at.getTime() / 1000);

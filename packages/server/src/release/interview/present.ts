import type { Step } from './hold.ts';
import type { InterviewPorts } from './ports.ts';

export const presentInterview = async (
  { conversationId, interview: { deployment }, progress: { status, question, file } }: Step,
  render: InterviewPorts['render'],
) => ({
  object: 'interview' as const,
  conversation_id: conversationId,
  deployment,
  status,
  question,
  file,
  yaml: file && (await render(file)),
});

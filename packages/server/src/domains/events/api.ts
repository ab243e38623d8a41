export { emit } from './emit.ts';
export { holdConversation } from './hold-conversation.ts';

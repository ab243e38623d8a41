export { defaultDeployment } from './named-deployment.ts';
export { openConversation } from './open.ts';

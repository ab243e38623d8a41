export { defaultDeployment, deploymentFor } from './named-deployment.ts';
export { openConversation } from './open.ts';
export { sendMessage } from './send.ts';

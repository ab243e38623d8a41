import { DeploymentFrame } from './deployment-frame.tsx';
import { FileOfDeployment } from './file-of-deployment.tsx';

export default function FileTab() {
  return (
    <DeploymentFrame tab="file">
      {(deployment) => <FileOfDeployment deployment={deployment} key={deployment.id} />}
    </DeploymentFrame>
  );
}

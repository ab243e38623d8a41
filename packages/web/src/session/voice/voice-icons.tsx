import { Icon } from '../icons.tsx';

export const MicrophoneIcon = () => (
  <Icon>
    <rect height="11" rx="3" width="6" x="9" y="3" />
    <path d="M5.5 11.5a6.5 6.5 0 0 0 13 0M12 18v3" />
  </Icon>
);

export const MutedIcon = () => (
  <Icon>
    <path d="M9 9v2a3 3 0 0 0 4.5 2.6M15 10.5V6a3 3 0 0 0-5.8-1M5.5 11.5a6.5 6.5 0 0 0 10.4 5.2M18.5 11.5c0 1-.2 1.9-.6 2.7M12 18v3M4 4l16 16" />
  </Icon>
);

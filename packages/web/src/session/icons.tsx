import type { ReactNode } from 'react';

export function Icon({ children, className = 'size-5' }: { children: ReactNode; className?: string | undefined }) {
  return (
    <svg
      aria-hidden="true"
      className={className}
      fill="none"
      stroke="currentColor"
      strokeLinecap="round"
      strokeLinejoin="round"
      strokeWidth="1.75"
      viewBox="0 0 24 24"
    >
      {children}
    </svg>
  );
}

type Sized = { className?: string };

export const ArrowUpIcon = ({ className }: Sized) => (
  <Icon className={className}>
    <path d="M12 19V5m-6.5 6.5L12 5l6.5 6.5" />
  </Icon>
);

export const ArrowDownIcon = ({ className }: Sized) => (
  <Icon className={className}>
    <path d="M12 5v14m6.5-6.5L12 19l-6.5-6.5" />
  </Icon>
);

export const StopIcon = ({ className }: Sized) => (
  <Icon className={className}>
    <rect fill="currentColor" height="10" rx="2" stroke="none" width="10" x="7" y="7" />
  </Icon>
);

export const ClipIcon = ({ className }: Sized) => (
  <Icon className={className}>
    <path d="m20 11.5-8.1 8.1a5 5 0 0 1-7.1-7.1l8.5-8.5a3.3 3.3 0 0 1 4.7 4.7l-8.4 8.4a1.7 1.7 0 0 1-2.4-2.4l7.8-7.7" />
  </Icon>
);

export const FileIcon = ({ className }: Sized) => (
  <Icon className={className}>
    <path d="M14 3H7a2 2 0 0 0-2 2v14a2 2 0 0 0 2 2h10a2 2 0 0 0 2-2V8zm0 0v5h5" />
  </Icon>
);

export const DownloadIcon = ({ className }: Sized) => (
  <Icon className={className}>
    <path d="M12 4v11m-4.5-4.5L12 15l4.5-4.5M5 19.5h14" />
  </Icon>
);

export const CloseIcon = ({ className }: Sized) => (
  <Icon className={className}>
    <path d="M6 6l12 12M18 6 6 18" />
  </Icon>
);

export const CheckIcon = ({ className }: Sized) => (
  <Icon className={className}>
    <path d="m5 12.5 4.5 4.5L19 7.5" />
  </Icon>
);

export const ThumbIcon = ({ className }: Sized) => (
  <Icon className={className}>
    <path d="M7 11v9H4v-9zm0 0 4-8c1.7 0 2.7 1.2 2.5 3l-.5 3.5h5.5c1.5 0 2.3 1.2 2 2.5l-1.6 6.5c-.3 1-1 1.5-2 1.5H7" />
  </Icon>
);

export const ChevronIcon = ({ className }: Sized) => (
  <Icon className={className}>
    <path d="m7 10 5 5 5-5" />
  </Icon>
);

export const TrashIcon = ({ className }: Sized) => (
  <Icon className={className}>
    <path d="M4.5 7h15M10 11v6m4-6v6M9 7V5a1 1 0 0 1 1-1h4a1 1 0 0 1 1 1v2m-9 0 .8 11.1a2 2 0 0 0 2 1.9h6.4a2 2 0 0 0 2-1.9L18 7" />
  </Icon>
);

export const CoinIcon = ({ className }: Sized) => (
  <Icon className={className}>
    <circle cx="12" cy="12" r="8.5" />
    <path d="M14.6 9.4c-.5-.9-1.4-1.4-2.6-1.4-1.5 0-2.6.7-2.6 1.9 0 2.8 5.4 1.3 5.4 4.2 0 1.2-1.2 1.9-2.8 1.9-1.3 0-2.3-.5-2.8-1.5M12 6.5V8m0 8v1.5" />
  </Icon>
);

export const PersonIcon = ({ className }: Sized) => (
  <Icon className={className}>
    <path d="M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-7.5 8a7.5 7.5 0 0 1 15 0" />
  </Icon>
);

export const MemoryIcon = ({ className }: Sized) => (
  <Icon className={className}>
    <path d="M6 4h12a1 1 0 0 1 1 1v15.5l-7-4.5-7 4.5V5a1 1 0 0 1 1-1Z" />
  </Icon>
);

export const ExternalIcon = ({ className }: Sized) => (
  <Icon className={className}>
    <path d="M14 5h5v5m0-5-8 8M10 6H6a1 1 0 0 0-1 1v11a1 1 0 0 0 1 1h11a1 1 0 0 0 1-1v-4" />
  </Icon>
);

export const CopyIcon = ({ className }: Sized) => (
  <Icon className={className}>
    <rect height="11" rx="2" width="11" x="9" y="9" />
    <path d="M5 15H4a1 1 0 0 1-1-1V5a2 2 0 0 1 2-2h9a1 1 0 0 1 1 1v1" />
  </Icon>
);

export const AgainIcon = ({ className }: Sized) => (
  <Icon className={className}>
    <path d="M4 12a8 8 0 1 0 2.6-5.9M4 4v4.5h4.5" />
  </Icon>
);

/** Paths on a field of 24 by 24, drawn with a line. */
const drawings = {
  home: 'M4 11.5 12 4l8 7.5M6 10v9h4.5v-5h3v5H18v-9',
  deployment: 'M12 3 4 7.5v9L12 21l8-4.5v-9zM4 7.5l8 4.5m0 0 8-4.5M12 12v9',
  conversation:
    'M4 6.5A2.5 2.5 0 0 1 6.5 4h11A2.5 2.5 0 0 1 20 6.5v7a2.5 2.5 0 0 1-2.5 2.5H10l-4.5 4v-4.1A2.5 2.5 0 0 1 4 13.5z',
  task: 'M9 6h11M9 12h11M9 18h11M4 6l1 1 1.6-2M4 12l1 1 1.6-2M4 18l1 1 1.6-2',
  inbox: 'M4 13.5 6.5 5h11L20 13.5V19H4zm0 0h4.5l1.2 2.5h4.6l1.2-2.5H20',
  play: 'M7 4.5v15l12-7.5z',
  test: 'M9 3h6M10 3v6l-5.2 9a2 2 0 0 0 1.7 3h11a2 2 0 0 0 1.7-3L14 9V3M7.5 15h9',
  book: 'M5 5.5A2.5 2.5 0 0 1 7.5 3H19v15H7.5A2.5 2.5 0 0 0 5 20.5zm0 15A2.5 2.5 0 0 0 7.5 21H19v-3',
  skill: 'M12 3l2.4 5.6L20 11l-5.6 2.4L12 19l-2.4-5.6L4 11l5.6-2.4z',
  server: 'M4 4.5h16v6H4zm0 9h16v6H4zM7.5 7.5h.01M7.5 16.5h.01',
  app: 'M5 5h5.5v5.5H5zm8.5 0H19v5.5h-5.5zM5 13.5h5.5V19H5zm8.5 0H19V19h-5.5z',
  secret: 'M7.5 14.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7Zm3.3-3.5H21m-3 0v3.5m-4-3.5v2.5',
  batch: 'M4 7h16M4 12h16M4 17h10',
  routine: 'M5 5h14v15H5zm0 4.5h14M9 3v4m6-4v4m-3 6v3h2.5',
  user: 'M12 11.5a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4.5 20.5c.8-4 4-6 7.5-6s6.700 2 7.500 6',
  webhook:
    'M9 8a3 3 0 1 1 4.200 2.700l2.500 4.600M8.500 12.700 6.500 16A3 3 0 1 0 9.600 18h5.800a3 3 0 1 0 1.500-2.600M11 10.500 8.500 14.700',
  event: 'M4 12h4l2.500-7 4 14 2.500-7H20',
  usage: 'M4 20h16M6.500 20v-7m5.500 7V5m5.500 15V10',
  audit: 'M7 3h7l5 5v13H7zm7 0v5h5M10 13h6m-6 4h6',
  key: 'M14.500 13.500a5 5 0 1 0-4.700-3.400L3.500 16.500v4h4l.5-2h2v-2h2l1-2.800M15.500 8.500h.01',
  limit: 'M4.500 17a8.500 8.500 0 1 1 15 0M12 14l4-5',
  members:
    'M9 11.500a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7ZM2.500 19.500c.7-3.500 3.500-5 6.500-5s5.800 1.500 6.500 5M16 4.800a3.500 3.500 0 0 1 0 6.400m2 3.600c2 .7 3.100 2.300 3.500 4.700',
  settings:
    'M4 7h9m4 0h3M4 17h3m4 0h9M15 9.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5ZM9 19.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5Z',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14Zm5-2 4.500 4.500',
  chevron: 'm9 6 6 6-6 6',
  down: 'm6 9 6 6 6-6',
  updown: 'm8 9.500 4-4 4 4m0 5-4 4-4-4',
  close: 'M6 6l12 12M18 6 6 18',
  menu: 'M4 7h16M4 12h16M4 17h16',
  check: 'm5 12.500 4.500 4.500L19 7.500',
  copy: 'M9 9h11v11H9zM15 9V4H4v11h5',
  plus: 'M12 5v14M5 12h14',
  more: 'M5.500 12h.01M12 12h.01M18.500 12h.01',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm0-13v2m0 14v2M3 12h2m14 0h2M5.600 5.600 7 7m10 10 1.400 1.400M18.400 5.600 17 7M7 17l-1.400 1.400',
  moon: 'M20 14.500A8.500 8.500 0 0 1 9.500 4a8.500 8.500 0 1 0 10.500 10.500Z',
  screen: 'M4 5h16v11H4zm5 15h6m-3-4v4',
  leave: 'M10 4H5v16h5m4-4 4-4-4-4m4 4H9',
  warn: 'M12 4 2.800 19.500h18.400zM12 10v4.500m0 2.500h.01',
  external: 'M13 5h6v6m0-6-8.500 8.500M10 6H5v13h13v-5',
  code: 'm8.500 7-5 5 5 5m7-10 5 5-5 5',
  stop: 'M7 7h10v10H7z',
  back: 'm15 6-6 6 6 6',
  refresh: 'M19.500 12a7.500 7.500 0 1 1-2.300-5.400L19.500 9m0-5v5h-5',
  trash: 'M5 7h14M10 7V4h4v3m-7 0 1 13h8l1-13m-7 4v5.500m4-5.500v5.500',
  arrow: 'M5 12h14m-5.500-5.500L19 12l-5.500 5.500',
  thumb:
    'M7 11v9H4v-9zm0 0 4-8c1.700 0 2.700 1.200 2.500 3l-.5 3.500h5.500c1.500 0 2.300 1.200 2 2.500l-1.600 6.500c-.3 1-1 1.500-2 1.500H7',
};

export type IconName = keyof typeof drawings;

export function Icon({ name, className = 'size-4' }: { name: IconName; className?: string }) {
  return (
    <svg
      aria-hidden="true"
      className={`shrink-0 ${className}`}
      fill="none"
      stroke="currentColor"
      strokeLinecap="round"
      strokeLinejoin="round"
      strokeWidth={name === 'more' ? 2.6 : 1.6}
      viewBox="0 0 24 24"
    >
      <path d={drawings[name]} />
    </svg>
  );
}

export const Spinner = ({ className = 'size-3.5' }: { className?: string }) => (
  <svg aria-hidden="true" className={`shrink-0 animate-turn ${className}`} fill="none" viewBox="0 0 24 24">
    <circle cx="12" cy="12" opacity="0.25" r="9" stroke="currentColor" strokeWidth="3" />
    <path d="M21 12a9 9 0 0 0-9-9" stroke="currentColor" strokeLinecap="round" strokeWidth="3" />
  </svg>
);

import { mark } from './mark.ts';

/** The mark in the colour of the text around it. */
export const Mark = ({ className }: { className: string }) => (
  <svg aria-hidden="true" className={className} viewBox="4.5 4.5 23 23">
    <path
      d={mark.stroke}
      fill="none"
      stroke="currentColor"
      strokeLinecap="round"
      strokeLinejoin="round"
      strokeWidth={mark.strokeWidth}
    />
    <circle cx={mark.point.x} cy={mark.point.y} fill="currentColor" r={mark.point.radius} />
  </svg>
);

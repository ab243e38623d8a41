import { useMatches } from '@tanstack/react-router';
import { serverUrl } from '../address.ts';
import { buttonLook } from './button.tsx';
import { Icon } from './icons.tsx';

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** The guide page about this page. */
    guide?: string;
  }
}

export const guideAddress = (place: string) => `${serverUrl}/docs/guide/${place}`;

/** Opens the guide page about the current page in a new tab. */
export function GuideLink() {
  const guide = useMatches().at(-1)?.staticData.guide;
  if (guide === undefined) return null;
  return (
    <a
      aria-label="Documentation"
      className={buttonLook('quiet', 'icon')}
      href={guideAddress(guide)}
      rel="noopener"
      target="_blank"
      title="Documentation"
    >
      <Icon name="book" />
    </a>
  );
}

import type { Kernel } from '../platform/kernel.ts';
import type { Registration, Serving } from '../platform/registration.ts';
import { version } from '../platform/version.ts';
import { authorizationDocuments, authorizationOf, clientDocumentPage } from './authorization-documents.ts';
import { consolePages } from './console.ts';
import { guidePages, openapiDocument } from './documentation.ts';
import { downloadPages } from './downloads.ts';
import { frontPages, pagesForPrograms } from './front.ts';
import { type ScreenStream, screenPages } from './screen.ts';
import { embedScript, sessionPages } from './session.ts';
import { brandFiles, missingPages } from './static-content.ts';

type PageServices = {
  downloads: (publicUrl: string) => Parameters<typeof downloadPages>[0];
  /** Origins whose pages may embed a session. */
  embedOriginsOf: (sessionId: string) => Promise<readonly string[] | undefined>;
  screenStream: (serving: Serving) => ScreenStream;
};

export const register = ({ log }: Kernel, { downloads, embedOriginsOf, screenStream }: PageServices): Registration => ({
  pages(serving) {
    const { publicUrl } = serving;
    const missing = missingPages();
    if (missing) log.warn(missing);
    return [
      brandFiles(),
      frontPages({ version, url: publicUrl }),
      authorizationDocuments(authorizationOf(publicUrl)),
      clientDocumentPage({ publicUrl, redirectUri: `${publicUrl}/v1/connections/callback` }),
      openapiDocument({ version, url: publicUrl }),
      pagesForPrograms({ version, url: publicUrl }),
      guidePages({ url: publicUrl }),
      downloadPages(downloads(publicUrl)),
      embedScript(),
      consolePages({ url: publicUrl }),
      sessionPages({ embedOriginsOf }),
      screenPages(screenStream(serving), embedOriginsOf),
    ];
  },
});

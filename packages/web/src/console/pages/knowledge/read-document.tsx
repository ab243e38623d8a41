import { useOne } from '../../data/queries.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Loaded } from '../../parts/page.tsx';
import { RequestMenu } from '../../parts/request-menu.tsx';
import { bytes } from '../../parts/shown.tsx';

/** More than this at once makes a browser slow; the call behind it answers all. */
const mostShown = 100_000;

const textLook =
  'max-h-[52dvh] overflow-auto whitespace-pre-wrap break-words rounded-md border bg-muted p-3 font-mono text-xs leading-5';

/** The text that was made of a file: what the agent reads, not what the file looks like. */
export function ReadDocument({
  notebookId,
  documentId,
  onClose,
}: {
  notebookId: string;
  documentId: string;
  onClose: () => void;
}) {
  const document = useOne('notebooks.getDocument', { notebook_id: notebookId, document_id: documentId });
  return (
    <Dialog isOpen onClose={onClose} title={document.data?.title ?? 'Document'} width="wide">
      <Loaded query={document}>
        {({ text, content_type, bytes: size }) => (
          <>
            <div className="mb-2 flex items-center gap-3 text-quiet text-sm">
              <span>
                {content_type}, {bytes(size)} of extracted text
              </span>
              <span className="ml-auto">
                <RequestMenu request={document.request} />
              </span>
            </div>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard. */}
            <pre className={textLook} tabIndex={0}>
              {text.slice(0, mostShown)}
            </pre>
            {text.length > mostShown && (
              <p className="mt-2 text-quiet text-sm">
                Showing the first 100,000 of {text.length.toLocaleString('en-US')} characters.
              </p>
            )}
          </>
        )}
      </Loaded>
    </Dialog>
  );
}

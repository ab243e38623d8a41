import { VestraError } from '@vestra/sdk/errors';
import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { CopyButton } from './copy.tsx';
import { guideAddress } from './guide-link.tsx';
import { Icon } from './icons.tsx';

type FaultProps = {
  error: Error;
  retry?: (() => void) | undefined;
  isRetrying?: boolean;
  /** False for codes without a page in the guide. */
  hasPage?: boolean;
  actions?: ReactNode;
  className?: string;
};

/** An error with its field, code and request id, and a button that copies them. */
export function Fault({ error, retry, isRetrying = false, hasPage = true, actions, className = '' }: FaultProps) {
  const { code, param, requestId, errors } = detailsOf(error);
  return (
    <div className={`rounded-md border border-danger/30 bg-danger-soft px-3 py-2.5 ${className}`} role="alert">
      <div className="flex flex-wrap items-start gap-2">
        {/* On narrow screens the buttons wrap below the message. */}
        <div className="flex min-w-0 grow basis-60 items-start gap-2">
          <Icon className="mt-0.5 size-4 text-danger" name="warn" />
          <div className="min-w-0 grow">
            <p className="break-words">{error.message}</p>
            {errors.length > 1 && (
              <ul className="mt-1 list-disc pl-4 text-sm">
                {errors.map(({ param: field, message }) => (
                  <li key={`${field} ${message}`}>
                    <code className="font-mono text-xs">{field}</code>: {message}
                  </li>
                ))}
              </ul>
            )}
            <p className="mt-1 flex flex-wrap items-center gap-x-3 font-mono text-quiet text-xs">
              {code && !hasPage && <span>{code}</span>}
              {code && hasPage && (
                <a
                  className="underline underline-offset-2"
                  href={guideAddress(`errors/${code}`)}
                  rel="noopener"
                  target="_blank"
                  title="Documentation of this error"
                >
                  {code}
                </a>
              )}
              {param && <span>field {param}</span>}
              {requestId && <span className="break-all">request {requestId}</span>}
            </p>
          </div>
        </div>
        <div className="ml-auto flex shrink-0 items-center gap-1">
          <CopyButton label="Copy this error" text={asText(error)} />
          {actions}
          {retry && (
            <Button isBusy={isRetrying} onClick={retry} shape="small">
              Try again
            </Button>
          )}
        </div>
      </div>
    </div>
  );
}

export const detailsOf = (error: Error) =>
  error instanceof VestraError
    ? error
    : { code: null, param: null, requestId: null, errors: [] as VestraError['errors'], status: 0 };

function asText(error: Error): string {
  const { code, param, requestId, errors } = detailsOf(error);
  const lines = [
    error.message,
    code && `code: ${code}`,
    param && `field: ${param}`,
    requestId && `request id: ${requestId}`,
    ...errors.map((each) => `- ${each.param}: ${each.message} (${each.code})`),
    `page: ${location.pathname}`,
  ];
  return lines.filter(Boolean).join('\n');
}

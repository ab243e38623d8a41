import { useNavigate, useSearch } from '@tanstack/react-router';

/** A dialog opened by a search parameter, such as `?new=1`: it can be linked, and the back button closes it. */
export function useDialogInAddress(name: string) {
  const search = useSearch({ strict: false }) as Record<string, string | undefined>;
  const navigate = useNavigate();
  const { [name]: value, ...rest } = search;
  return {
    value: value ?? null,
    open: (given = '1') => void navigate({ to: '.', search: { ...search, [name]: given } as never }),
    close: () => void navigate({ to: '.', search: rest as never, replace: true }),
  };
}

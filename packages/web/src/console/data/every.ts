import { useEffect, useRef } from 'react';

/** Polls while `isOn`, for state that no event reports. */
export function useEvery(ms: number, isOn: boolean, run: () => void): void {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    if (!isOn) return;
    const timer = setInterval(() => !document.hidden && latest.current(), ms);
    return () => clearInterval(timer);
  }, [ms, isOn]);
}

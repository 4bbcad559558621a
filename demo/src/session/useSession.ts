import { useCallback, useEffect, useLayoutEffect, useState } from "preact/hooks";
import { demoReport } from "./demoReport.js";
import { removeKept, runSession } from "./runSession.js";
import { initialState, type SessionState } from "./sessionState.js";

/** The checkpoint's state, and what can be done about it. */
export interface Session extends SessionState {
  /** Restores another step. */
  choose(step: number): void;
  /** Does everything again, with a new device. */
  retry(): void;
  /** Removes what is kept on this device. */
  removeKept(): void;
}

/** Runs a session for the chosen step, and a new one after each choice and each retry. */
export function useSession(): Session {
  const [state, setState] = useState<SessionState>(initialState);
  const [wanted, setWanted] = useState<{ readonly step?: number }>({});

  useEffect(() => {
    const ending = new AbortController();
    void runSession(wanted.step, (change) => setState((before) => ({ ...before, ...change })), ending.signal);
    return () => ending.abort();
  }, [wanted]);

  useLayoutEffect(() => {
    window.orbaxDemoReport = demoReport(state);
  }, [state]);

  const choose = useCallback((step: number) => {
    setState((before) => ({ ...before, step })); // at once, so that the choice is seen to be made
    setWanted({ step });
  }, []);
  const retry = useCallback(() => setWanted((before) => ({ ...before })), []);
  const remove = useCallback(() => void removeKept((change) => setState((before) => ({ ...before, ...change }))), []);
  return { ...state, choose, retry, removeKept: remove };
}

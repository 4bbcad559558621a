import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { trainReport } from "./trainReport.js";
import { TrainSession } from "./trainSession.js";
import { initialState, type TrainState } from "./trainState.js";

/** The page's state, and what can be done about it. */
export interface Training extends TrainState {
  readonly session: TrainSession | undefined;
  /** Does everything again from the latest saved step, with a new device. */
  retry(): void;
}

/** Runs a session as long as the page, and a new one after each retry. */
export function useTraining(): Training {
  const [state, setState] = useState<TrainState>(initialState);
  const [session, setSession] = useState<TrainSession>();
  const [attempt, setAttempt] = useState(0);
  const closed = useRef(Promise.resolve());

  useEffect(() => {
    const opened = new TrainSession(setState);
    setState(initialState);
    setSession(opened);
    void closed.current.then(() => opened.open());
    return () => {
      closed.current = opened.close();
    };
  }, [attempt]);

  useLayoutEffect(() => {
    window.orbaxTrainReport = trainReport(state);
  }, [state]);

  return { ...state, session, retry: () => setAttempt((before) => before + 1) };
}

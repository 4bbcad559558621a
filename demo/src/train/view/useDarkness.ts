import { useEffect, useState } from "preact/hooks";

/** Whether the system asks for dark colours. */
export function useDarkness(): boolean {
  const [isDark, setDark] = useState(() => query().matches);
  useEffect(() => {
    const asked = query();
    const change = () => setDark(asked.matches);
    asked.addEventListener("change", change);
    return () => asked.removeEventListener("change", change);
  }, []);
  return isDark;
}

const query = () => matchMedia("(prefers-color-scheme: dark)");

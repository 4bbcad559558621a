import type { Plan } from "../session/trainSession.js";

const stepChoices = { "50": "50 steps", "100": "100 steps", "500": "500 steps", endless: "until paused" } as const;
const everyChoices = { "10": "10 steps", "25": "25 steps", "50": "50 steps", "100": "100 steps", never: "only when asked" } as const;

/** The plan as its two choices are named. */
export interface PlanNames {
  readonly steps: keyof typeof stepChoices;
  readonly every: keyof typeof everyChoices;
}

/** The plan in steps. */
export const planOf = ({ steps, every }: PlanNames): Plan => ({
  steps: steps === "endless" ? undefined : Number(steps),
  every: every === "never" ? undefined : Number(every),
});

interface PlanChoiceProps {
  readonly plan: PlanNames;
  readonly disabled: boolean;
  choose(plan: PlanNames): void;
}

/** How long to train, and when to save. */
export function PlanChoice({ plan, disabled, choose }: PlanChoiceProps) {
  return (
    <>
      <Choice
        label="Train for"
        choices={stepChoices}
        value={plan.steps}
        disabled={disabled}
        choose={(steps) => choose({ ...plan, steps })}
      />
      <Choice
        label="Save every"
        choices={everyChoices}
        value={plan.every}
        disabled={disabled}
        choose={(every) => choose({ ...plan, every })}
      />
    </>
  );
}

/** Beside the one that the checkpoint had. */
const usualRates = [0.002, 0.001, 0.0005, 0.0001];

interface RateChoiceProps {
  readonly rate: number | undefined;
  readonly disabled: boolean;
  choose(rate: number): void;
}

/** How far a step goes; at first as far as it did in Python. */
export function RateChoice({ rate, disabled, choose }: RateChoiceProps) {
  const rates = [...new Set([...usualRates, rate ?? 0.002])].sort((a, b) => b - a);
  const choices = Object.fromEntries(rates.map((one) => [String(one), String(one)]));
  return (
    <Choice
      label="Learning rate"
      choices={choices}
      value={String(rate ?? 0.002)}
      disabled={disabled}
      choose={(name) => choose(Number(name))}
    />
  );
}

interface ChoiceProps<Name extends string> {
  readonly label: string;
  readonly choices: Readonly<Record<Name, string>>;
  readonly value: Name;
  readonly disabled: boolean;
  choose(value: Name): void;
}

const Choice = <Name extends string>({ label, choices, value, disabled, choose }: ChoiceProps<Name>) => (
  <label class="choice">
    {label}
    <select value={value} disabled={disabled} onChange={(event) => choose(event.currentTarget.value as Name)}>
      {Object.entries<string>(choices).map(([name, text]) => (
        <option key={name} value={name}>
          {text}
        </option>
      ))}
    </select>
  </label>
);

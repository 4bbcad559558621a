import type { ByteBudget } from "../../tasks/budget.js";
import type { TaskContext } from "../../tasks/context.js";

/** One piece of work: the bytes it holds at once, and how to do it. */
export interface Job {
  readonly byteLength: number;
  run(context: TaskContext): Promise<void>;
}

/** Runs a job as soon as its bytes fit into the budget. */
export async function runWithin(budget: ByteBudget, job: Job, context: TaskContext): Promise<void> {
  const release = await budget.acquire(Math.min(job.byteLength, budget.limit), context);
  try {
    await job.run(context);
  } finally {
    release();
  }
}

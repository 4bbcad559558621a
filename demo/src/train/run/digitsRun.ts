import type { OpenedStep, RestoredCheckpoint, SaveableItems, SaveOptions } from "orbax-webgpu";
import { type Classifier, digitsClassifier } from "../../digits/classifier.js";
import type { TestImages } from "../../digits/testImages.js";
import { type Batch, type DataState, nextBatch } from "../data/batch.js";
import type { LabelledImages } from "../data/images.js";
import type { TrainedArrays } from "../gpu/stepKernels.js";
import type { Trainer } from "../gpu/trainer.js";
import { trainingTemplates } from "./checkpointTemplates.js";
import { extensionsItem, readExtensions } from "./extensions.js";
import { type History, withLosses, withTest } from "./history.js";
import { testNetwork } from "./testNetwork.js";

/** What does not change while a run trains. */
export interface RunContext {
  readonly device: GPUDevice;
  readonly makeTrainer: (arrays: TrainedArrays) => Trainer;
  readonly bundled: LabelledImages;
  readonly tests: TestImages;
}

type Restored = RestoredCheckpoint<ReturnType<typeof trainingTemplates>, undefined>;

/** Restores a step onto the device, to train on from there. */
export async function restoreRun(opened: OpenedStep, context: RunContext, signal: AbortSignal): Promise<DigitsRun> {
  return new DigitsRun(await opened.restore({ templates: trainingTemplates(context.device), signal }), context);
}

/** A training run: everything that decides how it goes on is in its step, and is saved with it. */
export class DigitsRun {
  readonly classifier: Classifier;
  readonly #checkpoint: Restored;
  readonly #context: RunContext;
  readonly #trainer: Trainer;
  #step: number;
  #data: DataState;
  #history: History;
  /** Somebody's drawings, which the next batch has among its rows. */
  drawn: LabelledImages;
  /** At first the one of the checkpoint, which its record has. */
  learningRate: number;

  constructor(checkpoint: Restored, context: RunContext) {
    const { model, optimizer, rng, data_iterator } = checkpoint.items;
    this.#checkpoint = checkpoint;
    this.#context = context;
    this.#trainer = context.makeTrainer({ model, mu: optimizer[0].mu, nu: optimizer[0].nu });
    this.classifier = digitsClassifier(context.device, model);
    this.#step = checkpoint.step;
    const [high = 0, low = 0] = rng.data.data;
    const { epoch, position, seed } = data_iterator;
    this.#data = { rng: [high, low], loader: { epoch, position, seed } };
    const { drawn, history } = readExtensions(checkpoint);
    this.drawn = drawn;
    this.#history = history;
    const rate = checkpoint.metadata.extra.learning_rate;
    this.learningRate = typeof rate === "number" ? rate : 1e-3;
  }

  get step(): number {
    return this.#step;
  }

  get epoch(): number {
    return this.#data.loader.epoch;
  }

  get history(): History {
    return this.#history;
  }

  /** Learns from so many batches. */
  async learn(steps: number): Promise<void> {
    const batches: Batch[] = [];
    let data = this.#data;
    for (let step = 0; step < steps; step++) {
      const { batch, next } = nextBatch(data, { bundled: this.#context.bundled, drawn: this.drawn });
      batches.push(batch);
      data = next;
    }
    const losses = await this.#trainer.learn(batches, { learningRate: this.learningRate, count: this.#count });
    this.#step += steps;
    this.#data = data;
    this.#history = withLosses(this.#history, losses);
  }

  /** Reads the test images, and remembers how that went. */
  async test(): Promise<void> {
    const result = await testNetwork(this.classifier, this.#context.tests);
    this.#history = withTest(this.#history, { step: this.#step, ...result });
  }

  /** What to save of the step: the arrays as they stand on the device, and all that decides which batches follow. */
  items(): SaveableItems {
    const { model, optimizer, data_iterator } = this.#checkpoint.items;
    const [{ mu, nu }] = optimizer;
    return {
      model,
      optimizer: [{ count: { shape: [], dtype: "int32", data: Int32Array.of(this.#count) }, mu, nu }, null],
      rng: { impl: "threefry2x32", data: Uint32Array.from(this.#data.rng) },
      data_iterator: { ...data_iterator, ...this.#data.loader },
      extensions: extensionsItem({ drawn: this.drawn, history: this.#history }),
    };
  }

  /** What to say of the step beside its items. */
  saveOptions(): SaveOptions {
    const test = this.#history.tests.at(-1);
    const loss = this.#history.losses.at(-1);
    return {
      epoch: this.epoch,
      metrics: {
        ...(loss === undefined ? {} : { loss }),
        ...(test?.step === this.#step ? { test_loss: test.loss, accuracy: test.accuracy } : {}),
      },
      producer: { name: "orbax-webgpu-demo", version: "1" },
      extra: { ...this.#checkpoint.metadata.extra, learning_rate: this.learningRate },
      like: this.#checkpoint,
    };
  }

  /** Frees everything on the device. */
  destroy(): void {
    this.#trainer.destroy();
    this.#checkpoint.destroy();
  }

  /** The optimizer's steps so far: those of the checkpoint, and those made since. */
  get #count(): number {
    return (this.#checkpoint.items.optimizer[0].count.data[0] ?? 0) + this.#step - this.#checkpoint.step;
  }
}

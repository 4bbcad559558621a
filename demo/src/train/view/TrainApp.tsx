import { Brand } from "../../view/Brand.js";
import { useTraining } from "../session/useTraining.js";
import { SavedSteps } from "./SavedSteps.js";
import { Teach } from "./Teach.js";
import { TrainCard } from "./TrainCard.js";
import { TrainCode } from "./TrainCode.js";

/** The training page. */
export function TrainApp() {
  const training = useTraining();
  return (
    <>
      <a class="skip" href="#train">
        Skip to the training
      </a>
      <header class="hero">
        <Brand page="train" />
        <h1>Train in the browser, go on after a reload</h1>
        <p class="lead">
          Weights and Adam’s moments, restored from a checkpoint that Flax and Optax saved in Python, stay in the buffers they came in. The
          shaders train them there, and every saved step is one that Python restores.
        </p>
      </header>
      <main>
        <TrainCard training={training} />
        <Teach training={training} />
        <SavedSteps training={training} />
        <TrainCode />
      </main>
      <footer>
        <p>
          orbax-webgpu, Apache-2.0. The digits are scikit-learn’s, from the UCI repository’s Optical Recognition of Handwritten Digits (E.
          Alpaydin and C. Kaynak, 1998), CC BY 4.0.
        </p>
      </footer>
    </>
  );
}

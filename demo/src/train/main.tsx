import { render } from "preact";
import "uplot/dist/uPlot.min.css";
import "../style/base.css";
import "../style/page.css";
import "../style/demo.css";
import "../style/bench.css";
import "../style/checkpoint.css";
import "./style/train.css";
import "./style/saved.css";
import { TrainApp } from "./view/TrainApp.js";

const root = document.getElementById("app");
if (root !== null) render(<TrainApp />, root);

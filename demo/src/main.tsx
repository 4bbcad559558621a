import { render } from "preact";
import { App } from "./App.js";
import "./style/base.css";
import "./style/page.css";
import "./style/demo.css";
import "./style/bench.css";
import "./style/checkpoint.css";

const root = document.getElementById("app");
if (root !== null) render(<App />, root);

"""Makes digits.onnx: the digits network with its weights as inputs, named by their leaves' paths. Needs the package `onnx`."""

import pathlib

import onnx
from onnx import TensorProto, helper

LAYERS = {"hidden1": (64, 128), "hidden2": (128, 64), "out": (64, 10)}


def tensor(name, *shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def graph():
    inputs, nodes, values = [tensor("pixels", "batch", 64)], [], "pixels"
    for layer, (length, width) in LAYERS.items():
        kernel, bias = f"{layer}/kernel/value", f"{layer}/bias/value"
        inputs += [tensor(kernel, length, width), tensor(bias, width)]
        last = layer == "out"
        linear = "logits" if last else f"{layer}/linear"
        nodes.append(helper.make_node("Gemm", [values, kernel, bias], [linear]))
        values = linear
        if not last:
            nodes.append(helper.make_node("Relu", [values], [f"{layer}/relu"]))
            values = f"{layer}/relu"
    return helper.make_graph(nodes, "digits", inputs, [tensor("logits", "batch", 10)])


model = helper.make_model(graph(), opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
onnx.checker.check_model(model)
onnx.save(model, pathlib.Path(__file__).with_name("digits.onnx"))
